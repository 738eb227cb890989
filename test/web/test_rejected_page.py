"""Rejected requests: why, and accepting them once the secret is right."""
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
