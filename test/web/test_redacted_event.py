"""What a source redacts: hidden in the page, with the reason where a whole body is."""
import signal

from playwright.sync_api import expect

from support import senders
from support.gateway import SECRETS
from support.http_client import post


def redact(gateway, *parts):
    tables = gateway.tables
    stripe = {**tables["sources"]["stripe"], "redact": list(parts)}
    gateway.configure({**tables, "sources": {**tables["sources"], "stripe": stripe}})
    gateway.process.send_signal(signal.SIGHUP)
    redacts = lambda: [source["redact"] for source in gateway.api("GET", "/api/v1/sources").json()["items"]]  # noqa: E731
    gateway.wait_until(lambda: list(parts) in redacts())


def test_hidden_parts_and_a_hidden_body_are_said(gateway, window):
    body = senders.stripe_body("evt_card", card={"number": "4242424242424242"})
    event = post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], "evt_card", body=body)).json()["id"]
    redact(gateway, "json:/card/number")
    page = window(gateway).go(f"events/{event}")
    expect(page.locator("pre.body")).to_contain_text('"number": "[redacted]"')
    assert "4242" not in page.content()
    assert page.get_by_role("button", name="Copy as curl").count() == 0

    redact(gateway, "body")
    page = window(gateway).go(f"events/{event}")
    page.get_by_text("The body is not shown: `redact` hides the whole body.").wait_for()
    assert page.locator("pre.body").count() == 0
