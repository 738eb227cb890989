"""The live list, search, one event, and sending it again."""
import re
import subprocess

import pytest
from playwright.sync_api import expect

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

STRIPE = SECRETS["stripe"]


def send(gateway, event_id, **extra):
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, event_id, **extra))
    assert answer.status == 200
    return answer.json()["id"]


def row(page, key):
    return page.locator("tr[data-row]").filter(has_text=key)


def test_new_events_come_in_at_the_top_without_a_reload(gateway, window):
    send(gateway, "evt_old")
    page = window(gateway).go("events")
    row(page, "evt_old").wait_for()
    page.locator(".live-live").wait_for()
    send(gateway, "evt_new")
    row(page, "evt_new").wait_for()
    expect(page.locator("a[data-open]")).to_have_text(["evt_new", "evt_old"])
    row(page, "evt_new").get_by_text("delivered").wait_for()
    send(gateway, "evt_old")
    row(page, "evt_old").get_by_text("+1").wait_for()


def test_a_reader_further_down_is_not_moved_but_told(gateway, window):
    for number in range(60):
        send(gateway, f"evt_many_{number}")
    view = window(gateway, viewport={"width": 900, "height": 500})
    page = view.go("events")
    row(page, "evt_many_59").wait_for()
    page.evaluate("scrollTo(0, 600)")
    view.until(lambda: page.evaluate("scrollY") > 100)
    for number in range(3):
        send(gateway, f"evt_late_{number}")
    page.get_by_role("button", name="3 new").wait_for()
    assert row(page, "evt_late_0").count() == 0 and page.evaluate("scrollY") > 100
    page.get_by_role("button", name="3 new").click()
    row(page, "evt_late_0").wait_for()
    expect(page.locator("a[data-open]").first).to_have_text("evt_late_2")
    view.until(lambda: page.evaluate("scrollY") == 0)


def test_older_events_are_fetched_page_by_page(gateway, window):
    for number in range(60):
        send(gateway, f"evt_older_{number}")
    page = window(gateway).go("events")
    row(page, "evt_older_59").wait_for()
    expect(page.locator("tr[data-row]")).to_have_count(50)
    page.get_by_role("button", name="Older", exact=True).click()
    row(page, "evt_older_0").wait_for()
    expect(page.locator("a[data-open]")).to_have_text([f"evt_older_{number}" for number in reversed(range(60))])


def test_without_a_stream_the_list_looks_every_few_seconds(gateway, window):
    view = window(gateway)
    view.expect_faults("/api/v1/stream")
    view.page.route("**/api/v1/stream*", lambda route: route.abort())
    page = view.go("events")
    page.get_by_text("every 3 s").wait_for()
    page.get_by_role("heading", name="No event yet").wait_for()
    send(gateway, "evt_polled")
    row(page, "evt_polled").wait_for()


def test_filters_live_in_the_address(gateway, window):
    send(gateway, "evt_paid")
    send(gateway, "evt_failed", event_type="invoice.payment_failed")
    post(gateway.ingest, "/in/github", senders.github(SECRETS["github"], "guid-filter"))
    view = window(gateway)
    page = view.go("events")
    row(page, "guid-filter").wait_for()
    page.get_by_label("Source").select_option("stripe")
    row(page, "guid-filter").wait_for(state="detached")
    page.get_by_label("Type", exact=True).fill("invoice.payment_failed")
    row(page, "evt_paid").wait_for(state="detached")
    expect(page).to_have_url(re.compile(r"#/events\?(?=.*\bsource=stripe\b)(?=.*\btype=invoice\.payment_failed\b)"))
    colleague = window(gateway)
    other = colleague.page
    other.goto(page.url)
    row(other, "evt_failed").wait_for()
    expect(other.locator("tr[data-row]")).to_have_count(1)
    other.get_by_role("link", name="Clear filters").click()
    row(other, "guid-filter").wait_for()


def test_one_paste_into_one_field_opens_the_event(gateway, window):
    event = send(gateway, "evt_asked_for")
    send(gateway, "evt_other")
    page = window(gateway).go()
    for text in ("evt_asked_for", event):
        page.get_by_role("searchbox", name="Search: event, key, type, text").fill(text)
        page.keyboard.press("Enter")
        page.wait_for_url(f"**/#/events/{event}")
        page.get_by_role("heading", name="What happened").wait_for()
        page.goto(page.url.split("#")[0] + "#/")
        page.get_by_role("heading", name="Overview").wait_for(state="attached")
    page.get_by_role("searchbox", name="Search: event, key, type, text").fill("evt_")
    page.keyboard.press("Enter")
    page.wait_for_url("**/#/events?q=evt_")
    row(page, "evt_other").wait_for()


def test_a_search_is_data_and_never_syntax(gateway, window):
    send(gateway, "evt_plain")
    page = window(gateway).go("events?q=%25")
    page.get_by_role("heading", name="No event fits").wait_for()


def test_one_event_tells_its_story(gateway, backend, window):
    backend.answer_with(lambda request, nth: 500 if nth == 1 else 200)
    body = senders.slack_body("EvStory")
    event = post(gateway.ingest, "/in/slack", senders.slack(SECRETS["slack"], body=body)).json()["id"]
    post(gateway.ingest, "/in/slack", senders.slack(SECRETS["slack"], body=body, retry=(1, "http_timeout")))
    gateway.wait_for_state(event, "delivered")
    view = window(gateway)
    page = view.go(f"events/{event}")
    story = page.locator(".story")
    story.get_by_text("accepted", exact=True).wait_for()
    story.get_by_text("provider retry").wait_for()
    story.get_by_text("retry 1 by its header (http_timeout)").wait_for()
    story.get_by_text("failed 500").wait_for()
    assert story.get_by_text("answered 500").count() == 0, "said once"
    story.get_by_text("success 200").wait_for()
    page.get_by_text("2 arrivals, 1 event").wait_for()
    view.until(lambda: '  "event_id": "EvStory"' in page.locator("pre.body").inner_text())
    page.get_by_role("button", name="Raw").click()
    view.until(lambda: page.locator("pre.body").inner_text() == body.decode())
    page.get_by_text("X-Slack-Signature").wait_for()


def test_replay_says_what_it_will_do_and_does_it(gateway, backend, window):
    event = send(gateway, "evt_again")
    gateway.wait_for_state(event, "delivered")
    page = window(gateway).go(f"events/{event}")
    page.get_by_role("button", name="Replay…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Sends to backend again with the same Idempotency-Key. A backend that dedups will ignore it.").wait_for()
    dialog.get_by_role("button", name="Cancel").click()
    dialog.wait_for(state="detached")
    page.get_by_role("button", name="Replay…").click()
    dialog.get_by_role("button", name="Send again").click()
    page.get_by_text("1 delivery is on the way again.").wait_for()
    expect(page.locator(".story li").filter(has_text="replayed by a person")).to_contain_text("attempt 2")
    page.get_by_role("button", name="Replay…").click()
    dialog.get_by_label("Use a new Idempotency-Key").check()
    dialog.get_by_text("under a new Idempotency-Key").wait_for()
    dialog.get_by_role("button", name="Send again").click()
    backend.wait_for(3)
    assert [request.header("Idempotency-Key") for request in backend.requests] == [event, event, event + ".1"]
    assert [request.header("Hookonce-Replay") for request in backend.requests] == [None, "true", "true"]
    page.locator(".story").get_by_text("attempt 3").wait_for()


def test_the_keyboard_is_enough(gateway, window):
    send(gateway, "evt_first")
    second = send(gateway, "evt_second")
    page = window(gateway).go("events")
    row(page, "evt_second").wait_for()
    page.keyboard.press("?")
    page.get_by_role("dialog").get_by_text("next row").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    page.keyboard.press("j")
    page.keyboard.press("j")
    expect(page.locator(":focus")).to_have_text("evt_first")
    page.keyboard.press("k")
    expect(page.locator(":focus")).to_have_text("evt_second")
    page.keyboard.press("r")
    page.get_by_role("dialog").get_by_text("evt_second").wait_for()
    page.keyboard.press("Escape")
    page.get_by_role("dialog").wait_for(state="detached")
    expect(row(page, "evt_second").locator(":focus"), "the focus goes back to the row").to_have_count(1)
    page.keyboard.press("j")
    page.keyboard.press("k")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/#/events/{second}")
    page.get_by_role("heading", name="What happened").wait_for()
    page.keyboard.press("/")
    page.keyboard.type("evt_first jk?")
    expect(page.locator("#search"), "what is typed is text").to_have_value("evt_first jk?")


def test_what_senders_write_is_shown_and_never_run(gateway, window):
    evil = "<img src=x onerror=alert(1)><script>alert(2)</script>"
    headers, body = senders.github(SECRETS["github"], evil, event=evil, body=('{"a":"' + evil + '"}').encode())
    event = post(gateway.ingest, "/in/github", (headers, body)).json()["id"]
    view = window(gateway)
    alerts = []
    view.page.on("dialog", lambda dialog: (alerts.append(dialog.message), dialog.dismiss()))
    page = view.go("events")
    row(page, evil).wait_for()
    page = view.go(f"events/{event}")
    page.get_by_role("heading", name="What happened").wait_for()
    expect(page.locator("pre.body")).to_contain_text(evil)
    expect(page.locator(".event-name")).to_contain_text(evil)
    assert page.locator("main img, main script").count() == 0 and alerts == []


def test_the_copied_curl_command_sends_the_same_request_to_where_the_gateway_listens(gateway, window):
    body = senders.stripe_body("evt_curl", note="it's \"quoted\" $HOME `x` \\n")
    event = send(gateway, "evt_curl", body=body)
    view = window(gateway, permissions=["clipboard-read", "clipboard-write"])
    view.origin = "http://localhost:" + gateway.admin.rsplit(":", 1)[1]  # the page is reached under another name
    page = view.go(f"events/{event}")
    page.get_by_role("button", name="Copy as curl").click()
    page.get_by_text("Copied").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    assert f"'http://{gateway.ingest}/in/stripe'" in command
    note = page.locator("p").filter(has_text="curl sends to")
    expect(note).to_contain_text(f"curl sends to http://{gateway.ingest}/in/stripe.")
    expect(note).to_contain_text("The signature is refused (401) when it is older than 5m; it is of ")
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    assert f'"id":"{event}"' in done.stdout and '"status":"duplicate"' in done.stdout
    assert [arrival["same_body"] for arrival in gateway.event(event)["arrivals"]] == [True, True]


def test_no_command_is_offered_where_the_source_is_gone(start, backend, window):
    gateway = start(config(backend.url, "stripe", "github"))
    event = send(gateway, "evt_left")
    gateway.stop()
    gateway.configure(config(backend.url, "github"))
    gateway.start()
    page = window(gateway).go(f"events/{event}")
    page.locator("pre.body").wait_for()
    with page.expect_response("**/api/v1/sources"):
        page.reload()
    page.locator("pre.body").wait_for()
    assert page.get_by_role("button", name="Copy as curl").count() == 0


def test_a_replay_says_what_it_does_to_each_delivery(start, backend, window):
    """Of one event: delivered to one destination, dead at another, and waiting for a third that is paused."""
    tables = config(backend.url, "stripe")
    tables["destinations"] = {name: {"url": backend.url + name} for name in ("good", "bad", "held")}
    tables["sources"]["stripe"]["destinations"] = ["good", "bad", "held"]
    gateway = start(tables)
    backend.answer_with(lambda request, nth: 410 if request.path == "/bad" else 200)
    gateway.api("POST", "/api/v1/destinations/held/pause")
    event = send(gateway, "evt_three")
    states = {"good": "delivered", "bad": "dead", "held": "pending"}
    gateway.wait_until(lambda: {one["destination"]: one["state"] for one in gateway.event(event)["deliveries"]} == states)
    for place, button in (("events", "Replay evt_three"), (f"events/{event}", "Replay…")):
        page = window(gateway).go(place)
        page.get_by_role("button", name=button).click()
        dialog = page.get_by_role("dialog")
        dialog.get_by_text("Sends to good again with the same Idempotency-Key. A backend that dedups will ignore it.").wait_for()
        dialog.get_by_text("Sends to bad again, where it is dead and was never confirmed").wait_for()
        dialog.get_by_text("To held nothing is sent before what holds it is over").wait_for()
        dialog.get_by_label("Destination").select_option("bad")
        expect(dialog.locator("p", has_text="Sends to")).to_have_count(1)


def test_a_replay_of_a_delivery_that_waits_for_its_next_attempt_says_so(start, backend, window):
    gateway = start(config(backend.url, "stripe", destination={"retry": {"first": "1h", "max": "1h"}}))
    backend.answer_with(lambda request, nth: 500)
    event = send(gateway, "evt_retried")
    gateway.wait_until(lambda: gateway.event(event)["deliveries"][0]["next_attempt_at"] and gateway.event(event)["deliveries"][0]["attempts"])
    page = window(gateway).go(f"events/{event}")
    page.locator(".deliveries").get_by_text("next attempt").wait_for()
    page.get_by_role("button", name="Replay…").click()
    page.get_by_role("dialog").get_by_text("Sends to backend at once instead of at the next attempt’s time").wait_for()


def test_what_holds_a_delivery_is_said_and_leads_there(start, backend, window):
    """Behind a dead event of its ordering key, and then paused too."""
    backend.answer_with(lambda request, nth: 410 if request.provider_id == "EvPoison" else 200)
    gateway = start(config(backend.url, "slack", source={"ordering_key": "json:/event/channel"}, destination={"ordering": True}))
    ids = {}
    for name in ("EvPoison", "EvBehind"):
        ids[name] = post(gateway.ingest, "/in/slack", senders.slack(SECRETS["slack"], name)).json()["id"]
    gateway.wait_for_state(ids["EvPoison"], "dead")
    page = window(gateway).go(f"events/{ids['EvBehind']}")
    held = page.locator(".deliveries li")
    expect(held).to_contain_text("waits behind an earlier event of its ordering key")
    gateway.api("POST", "/api/v1/destinations/backend/pause")
    expect(held).to_contain_text("its destination is paused; waits behind an earlier event of its ordering key")
    held.get_by_role("link", name="an earlier event").click()
    page.get_by_role("heading", name="EvPoison").wait_for()


def test_a_replayed_dead_delivery_says_that_it_was_replayed(start, backend, window):
    gateway = start(config(backend.url, "stripe"))
    backend.answer_with(lambda request, nth: 410 if nth == 1 else 200)
    event = send(gateway, "evt_revived")
    gateway.wait_for_state(event, "dead")
    assert gateway.api("POST", f"/api/v1/events/{event}/replay").status == 202
    gateway.wait_for_state(event, "delivered")
    page = window(gateway).go(f"events/{event}")
    page.locator(".deliveries").get_by_text("replayed by a person").wait_for()
    page.locator(".story").get_by_text("success 200").wait_for()
    assert page.locator(".story").get_by_text("replayed by a person").count() == 0, "nobody knows with which attempt it began"


def test_a_search_that_found_nothing_yet_goes_on_and_says_how_far_it_got(gateway, window):
    """The gateway's calls end after half a second; the first one's answer here is what it is where millions of newer events do not fit."""
    for number in range(3):
        send(gateway, f"evt_deep_{number}")
    newest = gateway.api("GET", "/api/v1/events?q=evt_deep&limit=1").json()  # a cursor is good for its own filters
    view = window(gateway)

    def found_nothing_yet(route):
        if "cursor=" in route.request.url:
            route.continue_()
        else:
            route.fulfill(json={"items": [], "next_cursor": newest["next_cursor"], "searched_until": "2026-01-02T03:04:05.678Z"})

    view.page.route("**/api/v1/events?*", found_nothing_yet)
    page = view.go("events?q=evt_deep")
    page.get_by_role("heading", name="Nothing so far").wait_for()
    expect(page.locator(".more time")).to_have_attribute("datetime", "2026-01-02T03:04:05.678Z")
    assert page.get_by_role("heading", name="No event fits").count() == 0
    assert view.serious_faults() == []
    view.screenshot("light-nothing-so-far")
    page.get_by_role("button", name="Search further").click()
    expect(page.locator("a[data-open]")).to_have_text(["evt_deep_1", "evt_deep_0"])
    expect(page.locator(".more")).to_have_count(0)


def test_rows_that_fit_a_filter_no_more_go(start, backend, window):
    """Of a filter whose answer has all that fits, and of one whose answer has only the newest."""
    gateway = start(config(backend.url, "stripe", destination={"retry": {"first": "1h", "max": "1h"}}))
    backend.answer_with(lambda request, nth: 500)
    ids = [send(gateway, f"evt_waits_{number}") for number in range(53)]
    gateway.wait_until(lambda: all(gateway.event(event)["deliveries"][0]["attempts"] for event in ids))
    view = window(gateway)
    page = view.go("events?state=pending")
    expect(page.locator("tr[data-row]")).to_have_count(50)
    backend.answer_with(lambda request, nth: 200)
    gateway.api("POST", f"/api/v1/events/{ids[52]}/replay")
    gateway.api("POST", f"/api/v1/events/{ids[30]}/replay")
    row(page, "evt_waits_52").wait_for(state="detached")
    row(page, "evt_waits_30").wait_for(state="detached")
    assert row(page, "evt_waits_31").count() == 1
    gateway.api("POST", "/api/v1/replays", {"source": "stripe"})
    page.get_by_role("heading", name="No event fits").wait_for()


@pytest.mark.parametrize("body", [b"abc\x00def\x1b[201~\ntouch x\r\n", "\x9b201~ caf\u00e9 \u4e2d".encode(), b'{"x":"' + b"y" * 200_000 + b'"}', b"\ttab\n'"],
                         ids=["control-characters", "c1-and-chinese", "long", "tab-and-line-feed"])
def test_the_copied_curl_command_can_be_pasted_whatever_the_body_is(gateway, window, body):
    event = post(gateway.ingest, "/in/github", senders.github(SECRETS["github"], "guid-curl", body=body)).json()["id"]
    page = window(gateway, permissions=["clipboard-read", "clipboard-write"]).go(f"events/{event}")
    page.get_by_role("button", name="Copy as curl").click()
    page.get_by_text("Copied").wait_for()
    command = page.evaluate("navigator.clipboard.readText()")
    assert [char for char in command if ord(char) < 32 and char not in "\n\t" or 127 <= ord(char) < 160] == []
    done = subprocess.run(["bash", "-s"], input=command.encode(), capture_output=True, check=True)
    assert b'"status":"duplicate"' in done.stdout, done.stderr
    assert [arrival["same_body"] for arrival in gateway.event(event)["arrivals"]] == [True, True]
