"""What a source's `redact` names is seen by its destination alone, and its `retention` is its own."""
import json
import os
import subprocess

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

HIDDEN = ("4242424242424242", "c0ffee-agent", "ada@example.com")


def body_of(event_id):
    items = [{"email": "ada@example.com", "n": 1}, {"email": "ada@example.com", "n": 2}]
    return senders.stripe_body(event_id, card={"number": "4242424242424242", "brand": "visa"}, items=items)


def redacting(backend, **source):
    parts = ["json:/card/number", "json:/items/*/email", "header:x-agent"]
    return config(backend.url, "stripe", source={"redact": parts, **source})


def request(secret, body):
    headers, body = senders.stripe(secret, None, body=body)
    return [*headers, ("X-Agent", "c0ffee-agent")], body


def command(binary, gateway, *arguments):
    environment = {**os.environ, "HOOKONCE_ADMIN": f"http://{gateway.admin}", "NO_COLOR": "1"}
    return subprocess.run([binary, *arguments], env=environment, capture_output=True, text=True, check=True, timeout=60).stdout


def test_what_is_redacted_reaches_the_destination_and_nobody_else(start, binary, backend):
    gateway = start(redacting(backend))
    body = body_of("evt_1")
    accepted = post(gateway.ingest, "/in/stripe", request(SECRETS["stripe"], body))
    assert accepted.status == 200, accepted
    event_id = accepted.header("Hookonce-Event")
    gateway.wait_for_state(event_id, "delivered")
    assert backend.requests[0].body == body and backend.requests[0].header("X-Agent") == "c0ffee-agent"

    refused = post(gateway.ingest, "/in/stripe", request("whsec_another00000000000000000000", body))
    assert refused.code == "signature_mismatch"
    cut = post(gateway.ingest, "/in/stripe", request("whsec_another00000000000000000000", body[:-20]))
    assert cut.code == "signature_mismatch"
    rejected = lambda: gateway.api("GET", "/api/v1/rejected").json()["items"]  # noqa: E731
    gateway.wait_until(lambda: len(rejected()) == 2)

    shown = [
        gateway.api("GET", f"/api/v1/events/{event_id}").body.decode(),
        gateway.api("GET", f"/api/v1/events/{event_id}?reveal=true").body.decode(),
        gateway.api("GET", "/api/v1/events?q=4242").body.decode(),
        gateway.api("GET", "/api/v1/rejected").body.decode(),
        command(binary, gateway, "show", event_id, "--reveal", "--pretty"),
        command(binary, gateway, "show", event_id, "--reveal", "--json"),
        command(binary, gateway, "why", event_id),
        command(binary, gateway, "rejected", "--json"),
        command(binary, gateway, "rejected"),
        gateway.log(),
    ]
    for text in shown:
        assert not any(value in text for value in HIDDEN), text
    event = gateway.event(event_id)
    seen = json.loads(event["body"])
    assert seen["card"] == {"number": "[redacted]", "brand": "visa"}
    assert [item["email"] for item in seen["items"]] == ["[redacted]"] * 2
    assert ["X-Agent", "[redacted]"] in event["headers"] and event["size"] == len(body)
    bodies = [item["body"] for item in rejected()]
    assert bodies.count(None) == 1, bodies
    assert all("body_hidden" in item for item in rejected() if item["body"] is None)
    assert '"[redacted]"' in next(text for text in bodies if text is not None)


def test_a_source_keeps_its_events_for_its_own_time(start, backend):
    tables = config(backend.url, "stripe", "github")
    tables["sources"]["stripe"].update(retention="100ms", dedup_window="1s")
    gateway = start(tables)
    kept = post(gateway.ingest, "/in/github", senders.github(SECRETS["github"], "d-1")).header("Hookonce-Event")
    gone = post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], "evt_1")).header("Hookonce-Event")
    backend.wait_for(2)
    gateway.wait_until(lambda: gateway.api("GET", f"/api/v1/events/{gone}").status == 404)
    assert gateway.event(kept)["state"] == "delivered"
