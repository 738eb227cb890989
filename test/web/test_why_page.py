"""What caused each duplicate, on the event's page: the same as `hookonce why` says (test/e2e/test_why.py)."""
import time

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post
from support.sdks import faketime_environment

STRIPE = SECRETS["stripe"]


def test_the_page_names_what_caused_each_duplicate(start, backend, window):
    gateway = start(config(backend.url, "stripe", "slack"))
    events = {}

    def send(cause, path, request):
        answer = post(gateway.ingest, path, request)
        assert answer.status == 200, answer
        events[cause] = answer.json()["id"]

    def move_clock(offset):
        gateway.stop()
        gateway.environment.update(faketime_environment(offset))
        gateway.start()

    now = int(time.time())
    captured = senders.stripe(STRIPE, "evt_captured", at=now)
    for _ in range(2):
        send("provider retry", "/in/slack", senders.slack(SECRETS["slack"], "EvRetry", retry=None if not events else (1, "http_timeout")))
    for at in (now, now - 1):
        send("concurrent twin", "/in/stripe", senders.stripe(STRIPE, "evt_pair", at=at))
    for amount in (1, 2):
        send("same id, other body", "/in/stripe", senders.stripe(STRIPE, "evt_changed", body=senders.stripe_body("evt_changed", amount=amount)))
    send("replayed request", "/in/stripe", captured)
    send("manual resend", "/in/stripe", senders.stripe(STRIPE, "evt_resent"))
    move_clock("+1m")
    send("replayed request", "/in/stripe", captured)
    move_clock("+61m")
    send("manual resend", "/in/stripe", senders.stripe(STRIPE, "evt_resent", at=int(time.time()) + 61 * 60))

    opened = window(gateway)
    for cause, event in events.items():
        page = opened.go(f"events/{event}")
        page.get_by_text("2 arrivals, 1 event").wait_for()
        page.locator(".story").get_by_text(cause, exact=True).first.wait_for()
        opened.screenshot("why-" + cause.replace(" ", "-").replace(",", ""))
