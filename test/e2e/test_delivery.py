"""What the backend receives, and when it receives it again."""
import hashlib
import hmac
import re

import pytest

from support import hanging_names, senders
from support.gateway import SECRETS, config
from support.http_client import post, request

STRIPE, SLACK, GITHUB, STANDARD = (SECRETS[name] for name in ("stripe", "slack", "github", "standard_webhooks"))
QUICK = {"retry": {"first": "20ms", "factor": 1.0, "max": "20ms", "attempts": 50}}


def delivered(gateway, answer):
    assert answer.status == 200, answer
    return gateway.wait_for_state(answer.json()["id"], "delivered")


def test_a_difficult_body_and_difficult_headers_arrive_byte_for_byte_with_nothing_added(gateway, backend):
    body = bytes(range(256)) * 8192  # 2 MiB with NUL bytes and invalid UTF-8
    signature = "sha256=" + hmac.new(GITHUB.encode(), body, hashlib.sha256).hexdigest()
    sent = [("X-Empty", ""), ("X-Twice", "one"), ("x-twice", "two"), ("X-GitHub-Event", "push"), ("X-GitHub-Delivery", "guid-bytes"),
            ("X-Hub-Signature-256", signature), ("X-Latin", "caf\u00e9")]
    answer = request(gateway.ingest, "POST", "/in/github", sent, body)
    delivered(gateway, answer)
    got = backend.requests[0]
    assert got.method == "POST"
    assert got.body == body
    ours = {"host", "content-length", "idempotency-key", "webhook-id", "hookonce-source", "hookonce-event", "hookonce-attempt",
            "hookonce-received-at"}
    passed = [(name, value) for name, value in got.headers if name.lower() not in ours]
    assert [(name.lower(), value) for name, value in passed] == \
        [(name.lower(), value.encode().decode("latin-1")) for name, value in sent]
    assert got.header("Content-Type") is None


def test_the_headers_of_a_delivery(gateway, backend):
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_headers"))
    delivered(gateway, answer)
    got, event_id = backend.requests[0], answer.json()["id"]
    assert got.header("Idempotency-Key") == event_id
    assert got.header("Webhook-Id") == event_id
    assert got.header("Hookonce-Event") == event_id
    assert got.header("Hookonce-Source") == "stripe"
    assert got.header("Hookonce-Attempt") == "1"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", got.header("Hookonce-Received-At"))
    assert got.header("Hookonce-Replay") is None
    assert got.header("Webhook-Signature") is None
    assert len(got.all("Host")) == 1 and got.header("Host") == backend.address


def test_headers_of_our_names_and_hop_by_hop_ones_are_removed(gateway, backend):
    headers, body = senders.stripe(STRIPE, "evt_strip")
    extra = [("Idempotency-Key", "theirs"), ("Hookonce-Attempt", "99"), ("Hookonce-Anything", "x"), ("Webhook-Id", "theirs"),
             ("Connection", "keep-alive, X-Hop"), ("X-Hop", "1"), ("Keep-Alive", "timeout=5"), ("TE", "trailers"), ("Proxy-Authorization", "x"),
             ("X-Forwarded-For", "203.0.113.9"), ("Forwarded", "for=203.0.113.9"), ("X-Stays", "1")]
    answer = request(gateway.ingest, "POST", "/in/stripe", headers + extra, body)
    event = delivered(gateway, answer)
    got = backend.requests[0]
    assert got.all("Idempotency-Key") == [answer.json()["id"]]
    assert got.all("Hookonce-Attempt") == ["1"]
    assert got.all("Webhook-Id") == [answer.json()["id"]]
    for name in ("Hookonce-Anything", "X-Hop", "Keep-Alive", "TE", "Proxy-Authorization", "X-Forwarded-For", "Forwarded"):
        assert got.header(name) is None, name
    assert got.header("X-Stays") == "1"
    assert ["Idempotency-Key", "theirs"] in event["headers"]


def test_forwarded_headers_pass_from_a_trusted_proxy_and_name_the_client(start, backend):
    gateway = start(config(backend.url, "stripe", server={"trusted_proxies": ["127.0.0.0/8", "10.0.0.1"]}))
    headers, body = senders.stripe(STRIPE, "evt_proxy")
    answer = request(gateway.ingest, "POST", "/in/stripe", headers + [("X-Forwarded-For", "198.51.100.1, 203.0.113.9, 10.0.0.1")], body)
    event = delivered(gateway, answer)
    assert event["arrivals"][0]["remote"] == "203.0.113.9"
    assert backend.requests[0].header("X-Forwarded-For") == "198.51.100.1, 203.0.113.9, 10.0.0.1"


def test_the_backend_fails_twice_and_gets_the_event_again_under_the_same_key(gateway, backend):
    backend.answer_with(lambda r, nth: 500 if nth <= 2 else 200)
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_retry"))
    event = delivered(gateway, answer)
    assert [r.header("Hookonce-Attempt") for r in backend.requests] == ["1", "2", "3"]
    assert {r.header("Idempotency-Key") for r in backend.requests} == {answer.json()["id"]}
    attempts = event["deliveries"][0]["attempts"]
    assert [(a["number"], a["outcome"], a["status"]) for a in attempts] == [(1, "failed", 500), (2, "failed", 500), (3, "success", 200)]


@pytest.mark.parametrize("status", [301, 302, 307, 400, 404, 418, 500])
def test_everything_but_2xx_is_retried_and_redirects_are_not_followed(start, backend, status):
    backend.answer_with(lambda r, nth: (status, [("Location", "/elsewhere")], b"") if nth == 1 else 204)
    gateway = start(config(backend.url, "stripe", destination=QUICK))
    event = delivered(gateway, post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_status")))
    assert [r.path for r in backend.requests] == ["/", "/"]
    assert [a["status"] for a in event["deliveries"][0]["attempts"]] == [status, 204]


def test_410_ends_the_delivery_as_dead_at_once(start, backend):
    backend.answer_with(lambda r, nth: 410)
    gateway = start(config(backend.url, "stripe", destination=QUICK))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_gone"))
    event = gateway.wait_for_state(answer.json()["id"], "dead")
    assert len(event["deliveries"][0]["attempts"]) == 1


def test_used_up_attempts_are_a_dead_letter(start, backend):
    backend.answer_with(lambda r, nth: 500)
    gateway = start(config(backend.url, "stripe", destination={"retry": {"first": "10ms", "max": "10ms", "attempts": 3}}))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_used_up"))
    event = gateway.wait_for_state(answer.json()["id"], "dead")
    assert [a["number"] for a in event["deliveries"][0]["attempts"]] == [1, 2, 3]


def test_retry_after_is_honoured(start, backend):
    backend.answer_with(lambda r, nth: (503, [("Retry-After", "86400000")], b"") if nth == 1 else 200)
    gateway = start(config(backend.url, "stripe", destination=QUICK))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_after"))
    delivery = gateway.wait_until(lambda: next((d for d in gateway.event(answer.json()["id"])["deliveries"]
                                                if d["attempts"] and d["attempts"][0]["outcome"] == "failed"), None))
    event = gateway.event(answer.json()["id"])
    assert delivery["state"] == "pending"
    waits = seconds_between(event["received_at"], delivery["next_attempt_at"])
    assert 86000 <= waits <= 86500, "capped at one day, and not shortened"
    assert len(backend.requests) == 1


def seconds_between(first, second):
    from datetime import datetime
    parse = lambda text: datetime.fromisoformat(text.replace("Z", "+00:00"))
    return (parse(second) - parse(first)).total_seconds()


def test_a_connection_closed_without_an_answer_is_a_failed_attempt_and_tried_again(start, backend):
    backend.answer_with(lambda r, nth: None if nth == 1 else 200)
    gateway = start(config(backend.url, "stripe", destination=QUICK))
    event = delivered(gateway, post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_closed")))
    assert [r.header("Hookonce-Attempt") for r in backend.requests] == ["1", "2"]
    assert event["deliveries"][0]["attempts"][0]["error"]


def test_a_backend_that_closes_idle_connections_at_any_moment_never_gets_one_attempt_twice(start, backend):
    """The backend answers and closes without saying so; the next delivery then meets a dead reused connection."""
    closing = lambda r, nth: (200, [], b"")
    backend.answer_with(closing)
    original = backend._one

    def one_then_close(connection, stream):
        original(connection, stream)
        return False

    backend._one = one_then_close
    gateway = start(config(backend.url, "stripe", destination={**QUICK, "concurrency": 4}))
    answers = [post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_idle_{n}")) for n in range(150)]
    for answer in answers:
        delivered(gateway, answer)
    seen = [(r.event, r.header("Hookonce-Attempt")) for r in backend.requests]
    assert len(seen) == len(set(seen)), "an attempt was sent twice"


def test_slack_and_stripe_are_signed_anew_on_each_attempt(gateway, backend):
    stripe = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_resign", at=None))
    delivered(gateway, stripe)
    got = backend.requests[0]
    fields = dict(part.split("=", 1) for part in got.header("Stripe-Signature").split(","))
    assert fields["v1"] == hmac.new(STRIPE.encode(), fields["t"].encode() + b"." + got.body, hashlib.sha256).hexdigest()
    slack = post(gateway.ingest, "/in/slack", senders.slack(SLACK, "EvResign"))
    delivered(gateway, slack)
    got = backend.requests[1]
    stamp = got.header("X-Slack-Request-Timestamp")
    assert got.header("X-Slack-Signature") == "v0=" + hmac.new(SLACK.encode(), f"v0:{stamp}:".encode() + got.body, hashlib.sha256).hexdigest()


def test_a_destination_with_secrets_gets_standard_webhooks_signatures(start, backend):
    mine = "whsec_" + "ZGVzdGluYXRpb24tc2VjcmV0LWZvci10ZXN0cw=="
    gateway = start(config(backend.url, "stripe", "standard_webhooks", destination={"secrets": [mine]}))
    delivered(gateway, post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_signed")))
    headers = {name.lower(): value for name, value in backend.requests[0].headers}
    assert senders.verify_standard_webhooks(mine, headers, backend.requests[0].body)
    delivered(gateway, post(gateway.ingest, "/in/standard_webhooks", senders.standard_webhooks(STANDARD, "msg_both")))
    headers = {name.lower(): value for name, value in backend.requests[1].headers}
    assert headers["webhook-id"] == "msg_both"
    assert len(headers["webhook-signature"].split(" ")) == 2
    assert senders.verify_standard_webhooks(STANDARD, headers, backend.requests[1].body)
    assert senders.verify_standard_webhooks(mine, headers, backend.requests[1].body)


def test_without_resigning_the_providers_headers_pass_untouched(start, backend):
    gateway = start(config(backend.url, "stripe", "standard_webhooks", destination={"resign": False}))
    message = senders.stripe(STRIPE, "evt_untouched")
    delivered(gateway, post(gateway.ingest, "/in/stripe", message))
    assert backend.requests[0].header("Stripe-Signature") == dict(message[0])["Stripe-Signature"]
    message = senders.standard_webhooks(STANDARD, "msg_untouched")
    delivered(gateway, post(gateway.ingest, "/in/standard_webhooks", message))
    for name in ("webhook-id", "webhook-timestamp", "webhook-signature"):
        assert backend.requests[1].all(name) == [dict(message[0])[name]]


def test_replay_sends_again_under_the_same_key_and_new_key_under_another(gateway, backend):
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_replay"))
    event_id = answer.json()["id"]
    delivered(gateway, answer)
    for number, (body, key) in enumerate([(None, event_id), ({"new_key": True}, event_id + ".1"), ({"new_key": True}, event_id + ".2"),
                                          ({}, event_id)], 2):
        replayed = gateway.api("POST", f"/api/v1/events/{event_id}/replay", body)
        assert replayed.status == 202, replayed
        backend.wait_for(number)
        got = backend.requests[-1]
        assert got.header("Hookonce-Replay") == "true"
        assert got.header("Idempotency-Key") == key
        assert got.header("Hookonce-Attempt") == str(number)
        gateway.wait_for_state(event_id, "delivered")


def test_a_name_server_that_never_answers_delays_no_other_destination(start, backend, tmp_path):
    tables = config(backend.url, "stripe", "slack")
    tables["destinations"]["hung"] = {"url": "http://a.hang.test:9/", "timeout": "60s", "concurrency": 64}
    tables["sources"]["slack"]["destinations"] = ["hung"]
    gateway = start(tables, environment=hanging_names.environment(tmp_path))
    for number in range(80):
        assert post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvHung{number}")).status == 200
    for number in range(20):
        delivered(gateway, post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_beside_{number}")))
    assert all(e["state"] == "pending" for e in gateway.events(source="slack"))
    gateway.process.terminate()  # A hung resolver does not hold the end up either, beyond the drain.
    gateway.process.kill()


def test_a_hung_backend_takes_no_slot_of_another(start, backend):
    import socket
    with socket.create_server(("127.0.0.1", 0), backlog=128) as silent:
        tables = config(backend.url, "stripe", "slack", server={"drain": "100ms"})
        tables["destinations"]["hung"] = {"url": "http://127.0.0.1:%d/" % silent.getsockname()[1], "timeout": "60s"}
        tables["sources"]["slack"]["destinations"] = ["hung"]
        gateway = start(tables)
        for number in range(40):
            post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvSilent{number}"))
        for number in range(20):
            delivered(gateway, post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_free_{number}")))
        gateway.stop()


def test_private_addresses_are_refused_where_asked(start, backend):
    gateway = start(config(backend.url, "stripe", destination={**QUICK, "allow_private": False}))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_private"))
    attempt = gateway.wait_until(lambda: next((a for d in gateway.event(answer.json()["id"])["deliveries"] for a in d["attempts"]
                                               if a["outcome"] == "failed"), None))
    assert "private" in attempt["error"]
    assert backend.requests == []


def test_the_proxy_environment_is_ignored(start, backend):
    gateway = start(config(backend.url, "stripe"), environment={"http_proxy": "http://127.0.0.1:9", "HTTP_PROXY": "http://127.0.0.1:9",
                                                                "all_proxy": "http://127.0.0.1:9"})
    delivered(gateway, post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_proxy_env")))


def test_a_long_error_page_is_kept_short(start, backend):
    backend.answer_with(lambda r, nth: (500, [], b"e" * 300000) if nth == 1 else 200)
    gateway = start(config(backend.url, "stripe", destination=QUICK))
    event = delivered(gateway, post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_long")))
    assert 0 < len(event["deliveries"][0]["attempts"][0]["response"]) <= 4096


def test_a_trace_is_passed_on_as_it_came_and_named_in_the_log(gateway, backend):
    trace = "4bf92f3577b34da6a3ce929d0e0e4736"
    parents = {"evt_traced": f"00-{trace}-00f067aa0ba902b7-01", "evt_broken": f"00-{trace}-01", "evt_none": None}
    for event, parent in parents.items():
        headers, body = senders.stripe(STRIPE, event)
        extra = [("traceparent", parent), ("tracestate", "vendor=1")] if parent else []
        assert post(gateway.ingest, "/in/stripe", (headers + extra, body)).status == 200
    for request in backend.wait_for(3):
        assert request.all("traceparent") == ([parents[request.provider_id]] if parents[request.provider_id] else [])
    gateway.wait_until(lambda: (gateway.log().count("accepted "), gateway.log().count("delivered ")) == (3, 3))
    traced = [line.split()[2] for line in gateway.log().splitlines() if "trace=" in line]
    assert sorted(traced) == ["accepted", "delivered"], gateway.log()
    assert all(line.endswith(f" trace={trace}") for line in gateway.log().splitlines() if "trace=" in line)
