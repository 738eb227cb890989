"""Every page, in both themes, both languages and on a phone: complete, within its width, and usable by everybody."""
import re

import pytest
from playwright.sync_api import expect

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

RETRY = {"first": "50ms", "max": "100ms", "attempts": 2, "give_up": "1h"}
LOOKS = {
    "light": {},
    "dark": {"color_scheme": "dark"},
    "phone": {"viewport": {"width": 380, "height": 780}, "has_touch": True},
    "chinese": {"locale": "zh-CN"},
    "chinese-phone-dark": {"locale": "zh-CN", "color_scheme": "dark", "viewport": {"width": 380, "height": 780}},
}
PAGES = {"overview": "", "events": "events", "dead": "dead", "rejected": "rejected", "sources": "sources", "destinations": "destinations",
         "nothing": "events?q=nothing%20like%20this", "missing": "events/0199aaaa-0000-7000-8000-000000000000", "nonsense": "nonsense"}


@pytest.fixture
def busy(start, backend):
    """A gateway that has seen some of everything."""
    gateway = start(config(backend.url, "stripe", "slack", "github", destination={"retry": RETRY}))
    backend.answer_with(lambda request, nth: 500 if "dead" in (request.provider_id or "") else 200)
    for number in range(30):
        post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], f"evt_page_{number}"))
    post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], "evt_page_1"))
    post(gateway.ingest, "/in/slack", senders.slack(SECRETS["slack"], "EvPage"))
    post(gateway.ingest, "/in/slack", senders.slack(SECRETS["slack"], "EvPage", retry=(1, "http_timeout")))
    for number in range(3):
        post(gateway.ingest, "/in/github", senders.github(SECRETS["github"], f"dead-{number}"))
    post(gateway.ingest, "/in/stripe", senders.stripe("whsec_another", "evt_forged"))

    def at_rest():
        deliveries = gateway.api("GET", "/api/v1/stats").json()["deliveries"]
        return (deliveries["dead"], deliveries["pending"], deliveries["in_flight"]) == (3, 0, 0)
    gateway.wait_until(at_rest)
    gateway.wait_until(lambda: gateway.api("GET", "/api/v1/rejected").json()["items"])  # kept beside the work, a moment after its answer
    return gateway


def settled(page):
    """Until the page shows what it has to show: a heading, and nothing that is still being loaded."""
    page.wait_for_selector("main h1, main h2", state="attached")
    page.wait_for_selector(".waiting", state="detached")


@pytest.mark.parametrize("look", LOOKS)
def test_every_page_is_whole_within_its_width_and_usable_by_everybody(busy, window, look):
    view = window(busy, **LOOKS[look])
    view.expect_faults("/api/v1/events/0199aaaa-0000-7000-8000-000000000000")
    places = {**PAGES, "event": "events/" + busy.events(q="EvPage")[0]["id"], "dead-event": "events/" + busy.events(state="dead")[0]["id"]}
    for name, place in places.items():
        page = view.go(place)
        settled(page)
        expect(page.locator("html"), name).to_have_attribute("lang", "zh-CN" if "chinese" in look else "en")
        expect(page.locator("html"), name).to_have_attribute("data-theme", "dark" if "dark" in look else "light")
        assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth"), f"{name} is wider than the window"
        assert view.serious_faults() == [], name
        text = page.inner_text("main")
        assert ("chinese" in look) == bool(re.search(r"[\u4e00-\u9fff]", text)), name
        view.screenshot(f"{look}-{name}")


def background(page):
    return page.evaluate("getComputedStyle(document.body).backgroundColor")


def test_theme_and_language_are_switched_and_kept(busy, window):
    view = window(busy)
    page = view.go()
    theme = expect(page.locator("html"))
    page.get_by_role("button", name="Dark theme").click()
    theme.to_have_attribute("data-theme", "dark")
    dark = background(page)
    page.get_by_role("button", name="中文").click()
    page.get_by_role("link", name="概览").wait_for()
    page.reload()
    page.get_by_role("link", name="概览").wait_for()
    theme.to_have_attribute("data-theme", "dark")
    assert background(page) == dark
    page.get_by_role("button", name="浅色主题").click()
    page.get_by_role("button", name="English").click()
    page.get_by_role("link", name="Overview").wait_for()
    theme.to_have_attribute("data-theme", "light")
    assert background(page) != dark


def test_the_overview_says_what_the_api_says(busy, window):
    page = window(busy).go()
    stats = busy.api("GET", "/api/v1/stats").json()
    numbers = {name: sum(source[name] for source in stats["sources"].values()) for name in ("accepted", "duplicates", "rejected")}
    numbers |= {"dead": stats["deliveries"]["dead"], "waiting": stats["deliveries"]["pending"] + stats["deliveries"]["in_flight"]}
    assert numbers == {"accepted": 34, "duplicates": 2, "rejected": 1, "dead": 3, "waiting": 0}
    for name, number in numbers.items():
        expect(page.locator(f"[data-tile={name}] strong")).to_have_text(str(number))
    page.get_by_role("status").get_by_text("3 dead letters").wait_for()
    page.get_by_role("listitem").get_by_role("link", name="3 dead letters").click()
    page.wait_for_url("**/#/dead")


def test_on_a_good_day_it_says_so(gateway, window):
    page = window(gateway).go()
    page.get_by_text("All well: the store commits, nothing waits.").wait_for()
    page.get_by_text("Nothing. Have a good day.").wait_for()


def test_an_address_that_leads_nowhere_says_so_and_where_to_go(gateway, window):
    view = window(gateway)
    for place in ("nonsense", "overview/0199aaaa", "events/0199aaaa/more"):
        page = view.go(place)
        page.get_by_role("heading", name="No such page").wait_for()
        page.get_by_role("main").get_by_text(f"#/{place}", exact=True).wait_for()
    expect(page).to_have_title("Events · Hookonce")
    page.get_by_role("main").get_by_role("link", name="Destinations").click()
    page.get_by_role("heading", name="Destinations").wait_for()


def test_without_an_event_the_page_says_what_to_do(gateway, window):
    page = window(gateway).go("events")
    page.get_by_role("heading", name="No event yet").wait_for()
    url = f"http://{gateway.ingest}/in/github"
    expect(page.get_by_role("main")).to_contain_text(f"hookonce send github --to {url}")
    page.get_by_text(url, exact=True).wait_for()


def test_without_a_source_it_shows_the_lines_to_write(start, backend, window):
    gateway = start({"server": {"listen": "127.0.0.1:0", "admin": "127.0.0.1:0"}, "store": {"url": "sqlite:inbox.db"}, "sources": {},
                     "destinations": {}})
    page = window(gateway).go("sources")
    page.get_by_text("[sources.stripe]").wait_for()


def test_a_gateway_that_went_away_is_said_and_seen_again(gateway, window):
    view = window(gateway)
    view.expect_faults("ERR_", "Failed to load resource")
    page = view.go("events")
    page.get_by_role("heading", name="No event yet").wait_for()
    gateway.stop()
    page.get_by_text("The gateway does not answer").wait_for()
    gateway.configure({**gateway.tables, "server": {"listen": "127.0.0.1:0", "admin": gateway.admin}})
    gateway.start()
    page.get_by_text("The gateway does not answer").wait_for(state="hidden")


def test_the_first_load_is_small_and_asks_for_nothing_foreign(gateway, window):
    view = window(gateway)
    answers = []
    view.page.on("response", lambda answer: "/api/" in answer.url or answers.append(answer))
    page = view.go()
    page.get_by_text("All well").wait_for()
    view.until(lambda: len(answers) >= 3)
    sizes = [int(answer.header_value("content-length")) for answer in answers]
    assert len(sizes) <= 4 and sum(sizes) < 200_000, sizes
