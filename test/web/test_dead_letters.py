"""Dead letters: what is shown, and sending many again with a preview, progress and a way to stop."""
from playwright.sync_api import expect

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

MANY = 120  # more than two parts of the dashboard's bulk replay


def with_dead_letters(start, backend, how_many):
    """A gateway whose backend refuses for good: every event is dead after one attempt."""
    backend.answer_with(lambda request, nth: 410)
    gateway = start(config(backend.url, "stripe", "github"))
    for number in range(how_many):
        post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], f"evt_dead_{number}"))
    gateway.wait_until(lambda: dead(gateway) == how_many)
    return gateway


def dead(gateway):
    return gateway.api("GET", "/api/v1/stats").json()["deliveries"]["dead"]


def test_a_dead_letter_says_why_and_is_sent_again(start, backend, window):
    gateway = with_dead_letters(start, backend, 1)
    page = window(gateway).go("dead")
    row = page.locator("tr[data-row]").filter(has_text="evt_dead_0")
    row.get_by_text("answered 410").wait_for()
    backend.answer_with(lambda request, nth: 200)
    row.get_by_role("button", name="Replay evt_dead_0").click()
    page.get_by_role("dialog").get_by_role("button", name="Send again").click()
    page.get_by_role("heading", name="No dead letter").wait_for()
    gateway.wait_until(lambda: dead(gateway) == 0)


def test_filters_choose_which(start, backend, window):
    gateway = with_dead_letters(start, backend, 1)
    post(gateway.ingest, "/in/github", senders.github(SECRETS["github"], "dead-guid"))
    gateway.wait_until(lambda: dead(gateway) == 2)
    page = window(gateway).go("dead?source=github")
    page.locator("tr[data-row]").filter(has_text="dead-guid").wait_for()
    expect(page.locator("tr[data-row]")).to_have_count(1)
    page.get_by_role("button", name="Replay all…").click()
    page.get_by_role("dialog").get_by_text("1 deliveries, from github, to all destinations.").wait_for()
    page.get_by_role("dialog").get_by_role("button", name="Cancel").click()
    page.get_by_label("Source").select_option("")
    page.locator("tr[data-row]").filter(has_text="evt_dead_0").wait_for()


def test_a_page_that_is_empty_and_not_the_last_does_not_say_that_there_is_none(start, backend, window):
    """The gateway's calls end after a moment; the first one's answer here is what it is behind very many that are not dead."""
    gateway = with_dead_letters(start, backend, 2)
    newest = gateway.api("GET", "/api/v1/deliveries?state=dead&limit=1").json()
    view = window(gateway)

    def found_nothing_yet(route):
        if "cursor=" in route.request.url:
            route.continue_()
        else:
            route.fulfill(json={"items": [], "next_cursor": newest["next_cursor"], "searched_until": "2026-01-02T03:04:05.678Z"})

    view.page.route("**/api/v1/deliveries?*", found_nothing_yet)
    page = view.go("dead")
    expect(page.locator(".more time")).to_have_attribute("datetime", "2026-01-02T03:04:05.678Z")
    assert page.get_by_role("heading", name="No dead letter").count() == 0
    page.get_by_role("button", name="Search further").click()
    expect(page.locator("a[data-open]")).to_have_text(["evt_dead_0"])


def test_all_are_sent_again_after_a_preview(start, backend, window):
    gateway = with_dead_letters(start, backend, MANY)
    backend.answer_with(lambda request, nth: 200)
    view = window(gateway)
    page = view.go("dead")
    page.get_by_role("button", name="Replay all…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(f"{MANY} deliveries, from all sources, to all destinations.").wait_for()
    assert view.serious_faults() == []
    view.screenshot("light-bulk-replay")
    assert dead(gateway) == MANY, "a preview changes nothing"
    dialog.get_by_role("button", name=f"Send {MANY} again").click()
    dialog.get_by_text(f"Done: {MANY} are on the way again.").wait_for()
    dialog.get_by_role("button", name="Close").click()
    page.get_by_role("heading", name="No dead letter").wait_for()
    gateway.wait_until(lambda: len(gateway.events(state="delivered")) == MANY)
    assert len(backend.requests) == 2 * MANY


def test_it_can_be_stopped_between_two_parts(start, backend, window):
    gateway = with_dead_letters(start, backend, MANY)
    gateway.api("POST", "/api/v1/destinations/backend/pause")  # so that what was sent again stays where it can be counted
    view = window(gateway)
    page = view.go("dead")
    page.get_by_role("button", name="Replay all…").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(f"{MANY} deliveries").wait_for()
    held = []

    def hold_second_part(route):
        # The gateway is real; this only keeps the second part under way until the reader has pressed Stop.
        if "cursor" in route.request.post_data:
            held.append(route)
        else:
            route.continue_()

    page.route("**/api/v1/replays", hold_second_part)
    dialog.get_by_role("button", name=f"Send {MANY} again").click()
    dialog.get_by_text(f"50 of {MANY} on the way again").wait_for()
    view.until(lambda: held)
    dialog.get_by_role("button", name="Stop").click()
    held[0].continue_()
    dialog.get_by_text(f"Stopped: 100 of {MANY} are on the way again, the others are as they were.").wait_for()
    assert dead(gateway) == MANY - 100
    dialog.get_by_role("button", name="Close").click()
    page.locator("tr[data-row]").first.wait_for()



def test_rows_of_an_older_page_go_when_they_are_replayed_elsewhere(start, backend, window):
    gateway = with_dead_letters(start, backend, 103)
    page = window(gateway).go("dead")
    expect(page.locator("tr[data-row]")).to_have_count(100)
    page.get_by_role("button", name="Older", exact=True).click()
    expect(page.locator("tr[data-row]")).to_have_count(103)
    backend.answer_with(lambda request, nth: 200)
    gateway.api("POST", "/api/v1/replays", {"dead": True})
    gateway.wait_until(lambda: dead(gateway) == 0)
    page.get_by_role("heading", name="No dead letter").wait_for()
    expect(page.locator("tr[data-row]")).to_have_count(0)


def test_a_replay_from_a_row_that_is_behind_says_what_is_true_now(start, backend, window):
    """The event goes to two places: the one whose row was pressed is asked about first, and sent to alone."""
    tables = config(backend.url, "stripe")
    tables["destinations"] = {name: {"url": backend.url + name} for name in ("bad", "worse")}
    tables["sources"]["stripe"]["destinations"] = ["bad", "worse"]
    gateway = start(tables)
    backend.answer_with(lambda request, nth: 410)
    event = post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], "evt_behind")).json()["id"]
    gateway.wait_until(lambda: dead(gateway) == 2)
    view = window(gateway)
    page = view.go("dead")
    expect(page.locator("tr[data-row]")).to_have_count(2)
    view.expect_faults("ERR_FAILED")
    page.route("**/api/v1/deliveries?*", lambda route: route.abort())  # the list learns nothing more
    backend.answer_with(lambda request, nth: 200 if request.path == "/bad" else 410)
    gateway.api("POST", f"/api/v1/events/{event}/replay", {"destination": "bad"})
    gateway.wait_until(lambda: dead(gateway) == 1)
    page.locator("tr[data-row]").filter(has=page.locator("td.to", has_text="bad")).get_by_role("button").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text("Sends to bad again with the same Idempotency-Key. A backend that dedups will ignore it.").wait_for()
    assert dialog.get_by_text("never confirmed").count() == 0
    sent = len(backend.requests)
    dialog.get_by_role("button", name="Send again").click()
    page.get_by_text("1 delivery is on the way again.").wait_for()
    backend.wait_for(sent + 1)
    assert backend.requests[-1].path == "/bad"
    assert dead(gateway) == 1


def test_no_row_is_lost_between_two_pages_while_new_ones_come(start, backend, window):
    gateway = with_dead_letters(start, backend, 110)
    page = window(gateway).go("dead")
    expect(page.locator("tr[data-row]")).to_have_count(100)
    page.get_by_role("button", name="Older", exact=True).click()
    expect(page.locator("tr[data-row]")).to_have_count(110)
    for number in range(110, 130):
        post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], f"evt_dead_{number}"))
    gateway.wait_until(lambda: dead(gateway) == 130)
    expect(page.locator("a[data-open]")).to_have_text([f"evt_dead_{number}" for number in reversed(range(130))])


def hold_second_part(view):
    """Sends all again and keeps the second part under way; the gateway is real."""
    held = []
    view.page.route("**/api/v1/replays", lambda route: held.append(route) if "cursor" in route.request.post_data and not held else route.continue_())
    view.page.get_by_role("button", name="Replay all…").click()
    dialog = view.page.get_by_role("dialog")
    dialog.get_by_text("Some may have been confirmed once, before they were replayed").wait_for()
    dialog.get_by_role("button", name=f"Send {MANY} again").click()
    view.until(lambda: held)
    return held[0]


def test_one_that_a_gateways_death_broke_off_says_how_far_it_came_and_goes_on(start, backend, window):
    gateway = with_dead_letters(start, backend, MANY)
    gateway.api("POST", "/api/v1/destinations/backend/pause")
    view = window(gateway)
    page = view.go("dead")
    second = hold_second_part(view)
    view.expect_faults("ERR_", "/api/v1/stream")
    gateway.kill()
    second.continue_()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(f"Failed after 50 of {MANY}: these are on the way again, and perhaps up to 50 more, whose answer is missing.").wait_for()
    assert view.serious_faults() == []
    view.screenshot("light-bulk-replay-failed")
    gateway.configure({**gateway.tables, "server": {**gateway.tables["server"], "admin": gateway.admin}})  # the page knows this address
    gateway.start()
    assert dead(gateway) == MANY - 50
    dialog.get_by_role("button", name="Go on").click()
    dialog.get_by_text(f"Done: {MANY} are on the way again.").wait_for()
    assert dead(gateway) == 0


def test_one_that_the_end_of_the_session_broke_off_is_there_again_after_signing_in(start, backend, window):
    token = "a token for the tests"
    gateway = with_dead_letters(start, backend, MANY)
    gateway.api("POST", "/api/v1/destinations/backend/pause")
    gateway.stop()
    gateway.configure({**gateway.tables, "server": {**gateway.tables["server"], "admin_token": token}})
    gateway.start()
    view = window(gateway)
    view.expect_faults("status of 401")
    page = view.go("dead")

    def sign_in():
        page.get_by_label("Admin token").fill(token)
        page.keyboard.press("Enter")

    sign_in()
    second = hold_second_part(view)
    page.evaluate("fetch('/api/v1/session', {method: 'DELETE'}).then((answer) => answer.status)")  # as twelve hours end it
    second.continue_()
    page.get_by_role("heading", name="Sign in").wait_for()
    sign_in()
    dialog = page.get_by_role("dialog")
    dialog.get_by_text(f"50 of {MANY}").wait_for()
    dialog.get_by_role("button", name="Go on").click()
    dialog.get_by_text(f"Done: {MANY} are on the way again.").wait_for()
    bearer = [("Authorization", f"Bearer {token}")]
    assert gateway.api("GET", "/api/v1/stats", headers=bearer).json()["deliveries"]["dead"] == 0
    dialog.get_by_role("button", name="Close").click()
    page.get_by_role("heading", name="No dead letter").wait_for()
    page.get_by_role("link", name="Events").click()
    page.get_by_role("link", name="Dead letters").click()
    page.get_by_role("heading", name="No dead letter").wait_for()
    assert dialog.count() == 0
