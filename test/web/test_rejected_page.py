"""Rejected requests: why, and accepting them once the secret is right."""
import re
import signal

from playwright.sync_api import expect

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

OTHER = "whsec_of_the_other_endpoint0000000"


def test_a_rejected_request_says_why_and_is_accepted_once_the_secret_is_right(gateway, window):
    assert post(gateway.ingest, "/in/stripe", senders.stripe(OTHER, "evt_refused")).status == 401
    view = window(gateway)
    page = view.go("rejected")
    item = page.locator(".rejected li").first
    item.get_by_text("signature does not fit").wait_for()
    item.locator("summary").click()
    expect(item.locator("pre.body")).to_contain_text('"id": "evt_refused"')
    assert OTHER not in page.content() and SECRETS["stripe"] not in page.content()
    view.expect_faults("status of 422")
    item.get_by_role("button", name="Accept").click()
    item.get_by_text("Still refused:").wait_for()

    tables = gateway.tables
    gateway.configure({**tables, "sources": {**tables["sources"], "stripe": {**tables["sources"]["stripe"], "secrets": [SECRETS["stripe"], OTHER]}}})
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_until(lambda: any(source["secrets"] == 2 for source in gateway.api("GET", "/api/v1/sources").json()["items"]))
    item.get_by_role("button", name="Accept").click()
    page.get_by_role("link", name="Open the event").click()
    page.get_by_role("heading", name="evt_refused").wait_for()
    gateway.wait_until(lambda: [event["key"] for event in gateway.events(source="stripe")] == ["evt_refused"])


def test_no_rejected_request_is_said(gateway, window):
    window(gateway).go("rejected").get_by_role("heading", name="No rejected request").wait_for()


def test_what_was_accepted_stays_and_says_what_it_became(gateway, window):
    """Also for a reader whose list still has what somebody else has accepted."""
    for number in range(2):
        assert post(gateway.ingest, "/in/stripe", senders.stripe(OTHER, f"evt_refused_{number}")).status == 401
    view, other = window(gateway), window(gateway)
    for one in (view, other):
        expect(one.go("rejected").locator(".rejected li")).to_have_count(2)
    other.page.route("**/api/v1/rejected?*", lambda route: route.abort())  # it learns nothing more
    other.expect_faults("status of 404", "ERR_FAILED")

    tables = gateway.tables
    gateway.configure({**tables, "sources": {**tables["sources"], "stripe": {**tables["sources"]["stripe"], "secrets": [SECRETS["stripe"], OTHER]}}})
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_until(lambda: any(source["secrets"] == 2 for source in gateway.api("GET", "/api/v1/sources").json()["items"]))
    newer = view.page.locator(".rejected li").first
    newer.get_by_role("button", name="Accept").click()
    newer.get_by_text("Accepted.").wait_for()
    view.until(lambda: len(gateway.api("GET", "/api/v1/rejected").json()["items"]) == 1)
    expect(view.page.locator(".rejected li")).to_have_count(2)
    assert newer.get_by_role("button", name="Accept").count() == 0
    other.page.locator(".rejected li").first.get_by_role("button", name="Accept").click()
    other.page.get_by_text("It is gone from the list: accepted by somebody else, or pruned.").wait_for()


def test_a_long_body_is_shown_as_cut(gateway, window):
    body = senders.stripe_body("evt_long", pad="x" * 20_000)
    assert post(gateway.ingest, "/in/stripe", senders.stripe(OTHER, "evt_long", body=body)).status == 401
    view = window(gateway, viewport={"width": 380, "height": 780})
    page = view.go("rejected")
    page.locator(".rejected summary").click()
    page.get_by_text(f"Cut: these are the first 16.0 KiB of {len(body) / 1024:.1f} KiB.").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= page.evaluate("innerWidth")
    view.screenshot("phone-rejected-open")


def test_an_alarm_says_why_and_when_it_ends(gateway, window):
    for number in range(10):
        assert post(gateway.ingest, "/in/stripe", senders.stripe(OTHER, f"evt_alarm_{number}")).status == 401
    view = window(gateway)
    page = view.go()
    page.get_by_role("listitem").get_by_role("link", name="10 requests of stripe rejected in the last minute: signature does not fit").click()
    note = page.locator(".note.bad")
    expect(note).to_contain_text("Mostly a secret that was changed on one side only")
    expect(note).to_contain_text("The alarm ends by itself: when fewer than 10 are rejected in a minute")
    assert view.serious_faults() == []
    view.screenshot("light-alarm")
    view.go("sources").locator(".note.bad").get_by_text("The alarm ends by itself").wait_for()


def test_no_rejected_request_is_lost_between_two_pages_while_new_ones_come(gateway, window):
    """The gateway is real; its pages are shorter here, because it keeps only ten a second."""
    def refuse(numbers):
        for number in numbers:
            assert post(gateway.ingest, "/in/stripe", senders.stripe(OTHER, f"evt_{number}")).status == 401
        gateway.wait_until(lambda: kept() == numbers[-1] + 1)

    def kept():
        return len(gateway.api("GET", "/api/v1/rejected?limit=500").json()["items"])

    refuse(range(6))
    view = window(gateway)
    view.page.route("**/api/v1/rejected?*", lambda route: route.continue_(
        url=re.sub(r"limit=(\d+)", lambda found: f"limit={max(1, int(found[1]) // 25)}", route.request.url)))
    page = view.go("rejected")
    expect(page.locator(".rejected li")).to_have_count(4)
    page.get_by_role("button", name="Older", exact=True).click()
    expect(page.locator(".rejected li")).to_have_count(6)
    refuse(range(6, 9))
    expect(page.locator(".rejected li")).to_have_count(9)
