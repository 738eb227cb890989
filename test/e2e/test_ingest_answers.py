"""Each row of the table of ingest answers, over the real binary."""
import json

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post, request

STRIPE, SLACK, GITHUB, STANDARD = (SECRETS[name] for name in ("stripe", "slack", "github", "standard_webhooks"))


def test_a_first_arrival_is_accepted_and_its_copy_is_a_duplicate_of_it(gateway, backend):
    first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1"))
    again = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1"))
    assert (first.status, again.status) == (200, 200)
    assert first.header("Hookonce-Status") == "accepted"
    assert again.header("Hookonce-Status") == "duplicate"
    assert first.json() == {"status": "accepted", "id": first.header("Hookonce-Event")}
    assert again.json() == {"status": "duplicate", "id": first.header("Hookonce-Event")}
    gateway.wait_for_state(first.json()["id"], "delivered")
    assert len(backend.requests) == 1


def test_each_provider_is_accepted_with_its_own_id(gateway):
    sent = {
        "stripe": senders.stripe(STRIPE, "evt_each"),
        "slack": senders.slack(SLACK, "EvEach"),
        "github": senders.github(GITHUB, "guid-each"),
        "standard_webhooks": senders.standard_webhooks(STANDARD, "msg_each"),
    }
    for source, message in sent.items():
        assert post(gateway.ingest, f"/in/{source}", message).header("Hookonce-Status") == "accepted", source
    keys = {event["source"]: event["key"] for event in gateway.events()}
    assert keys == {"stripe": "evt_each", "slack": "EvEach", "github": "guid-each", "standard_webhooks": "msg_each"}


def test_svix_header_names_are_understood(gateway):
    message = senders.standard_webhooks(STANDARD, "msg_svix", family="svix")
    assert post(gateway.ingest, "/in/standard_webhooks", message).header("Hookonce-Status") == "accepted"


def test_a_slack_retry_without_a_stored_first_attempt_is_accepted_and_delivered(gateway, backend):
    message = senders.slack(SLACK, "EvLost", retry=(1, "http_timeout"))
    answer = post(gateway.ingest, "/in/slack", message)
    assert (answer.status, answer.header("Hookonce-Status")) == (200, "accepted")
    gateway.wait_for_state(answer.json()["id"], "delivered")
    assert [r.provider_id for r in backend.requests] == ["EvLost"]
    arrival = gateway.event(answer.json()["id"])["arrivals"][0]
    assert arrival["retry"] == {"number": 1, "reason": "http_timeout"}
    assert arrival["cause"] == "first"


def test_slack_forms_are_answered_with_an_empty_body(gateway):
    command = b"command=%2Fdeploy&text=now&trigger_id=1.2.abc&team_id=T1"
    answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, body=command, content_type="application/x-www-form-urlencoded"))
    assert (answer.status, answer.body) == (200, b"")
    assert answer.header("Hookonce-Status") == "accepted"
    payload = b"payload=%7B%22type%22%3A%22block_actions%22%2C%22trigger_id%22%3A%221.3.abc%22%7D"
    answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, body=payload, content_type="application/x-www-form-urlencoded"))
    assert (answer.status, answer.body) == (200, b"")


def test_a_signed_url_verification_is_a_handshake_and_no_event(gateway):
    body = json.dumps({"type": "url_verification", "challenge": "c3"}).encode()
    answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, body=body))
    assert (answer.status, answer.json()) == (200, {"challenge": "c3"})
    assert answer.header("Hookonce-Status") == "handshake"
    assert request(gateway.ingest, "POST", "/in/slack", [("Content-Type", "application/json")], body).status == 401
    assert gateway.events() == []


def test_ssl_check_is_answered_unsigned_and_everything_else_in_it_is_ignored(gateway):
    body = b"ssl_check=1&token=x&payload=%7B%22trigger_id%22%3A%22smuggled%22%7D"
    answer = request(gateway.ingest, "POST", "/in/slack", [("Content-Type", "application/x-www-form-urlencoded")], body)
    assert (answer.status, answer.body) == (200, b"")
    assert gateway.events() == []


@pytest.mark.parametrize("alter, code", [
    (lambda h, b: ([x for x in h if x[0] != "Stripe-Signature"], b), "signature_missing"),
    (lambda h, b: senders.stripe("whsec_another000000000000000000000", "evt_bad"), "signature_mismatch"),
    (lambda h, b: (h, b.replace(b"2000", b"2001")), "signature_mismatch"),
    (lambda h, b: senders.stripe(STRIPE, "evt_bad", at=1000000000), "timestamp_out_of_tolerance"),
    (lambda h, b: senders.stripe(STRIPE, "evt_bad", at=4000000000), "timestamp_out_of_tolerance"),
    (lambda h, b: senders.stripe("whsec_another000000000000000000000", "evt_bad", at=1000000000), "signature_mismatch"),
])
def test_what_does_not_verify_is_401_and_burns_no_key(gateway, alter, code):
    answer = post(gateway.ingest, "/in/stripe", alter(*senders.stripe(STRIPE, "evt_bad")))
    assert (answer.status, answer.code) == (401, code)
    assert STRIPE not in answer.body.decode()
    good = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_bad"))
    assert good.header("Hookonce-Status") == "accepted"


def test_an_unreadable_signature_header_is_malformed(gateway):
    headers, body = senders.stripe(STRIPE, "evt_x")
    answer = request(gateway.ingest, "POST", "/in/stripe", [("Stripe-Signature", "t=abc,v1=00")], body)
    assert (answer.status, answer.code) == (400, "malformed")


@pytest.mark.parametrize("body", [b"{", b"", b'{"id":"evt_1"} trailing', b'{"id":"evt_\xff"}', b'\xef\xbb\xbf{"id":"evt_1"}'])
def test_a_verified_body_that_is_not_json_is_malformed_where_the_key_is_in_it(gateway, body):
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "", body=body))
    assert (answer.status, answer.code) == (400, "malformed")


@pytest.mark.parametrize("body", [b"", b"not json", b"\x1f\x8b\x08\x00compressed", b'{"a":1}'])
def test_any_verified_body_is_accepted_where_the_key_is_in_a_header(gateway, body):
    answer = post(gateway.ingest, "/in/github", senders.github(GITHUB, f"guid-{len(body)}", body=body))
    assert (answer.status, answer.header("Hookonce-Status")) == (200, "accepted")


@pytest.mark.parametrize("rule, answers", [("accept", [(200, "accepted")] * 2), ("hash", [(200, "accepted"), (200, "duplicate")]),
                                           ("reject", [(422, None)] * 2)])
def test_a_missing_key_is_accepted_hashed_or_rejected(start, backend, rule, answers):
    gateway = start(config(backend.url, "stripe", source={"missing_key": rule}))
    message = senders.stripe(STRIPE, "", body=b'{"object":"event","type":"no.id"}')
    got = [post(gateway.ingest, "/in/stripe", message) for _ in range(2)]
    assert [(answer.status, answer.header("Hookonce-Status")) for answer in got] == answers
    if rule == "reject":
        assert got[0].code == "dedup_key_missing"
    else:
        key = gateway.events()[0]["key"]
        assert key is None if rule == "accept" else key.startswith("sha256:")


def test_unknown_paths_and_methods(gateway):
    message = senders.stripe(STRIPE, "evt_path")
    unknown = post(gateway.ingest, "/in/nobody", message)
    assert (unknown.status, unknown.code) == (404, "no_such_source")
    assert post(gateway.ingest, "/IN/stripe", message).status == 404
    assert post(gateway.ingest, "//in/stripe", message).status == 404
    for method in ("GET", "HEAD", "PUT", "DELETE"):
        answer = request(gateway.ingest, method, "/in/stripe")
        assert answer.status == 405 and answer.header("Allow") == "POST", method
    assert post(gateway.ingest, "/in/stripe/?a=b", message).header("Hookonce-Status") == "accepted"


def test_a_body_over_the_limit_is_413_whether_announced_or_not(start, backend):
    gateway = start(config(backend.url, "stripe", server={"max_body": "1KiB"}))
    body = b'{"id":"evt_big","pad":"' + b"x" * 2000 + b'"}'
    headers, body = senders.stripe(STRIPE, "evt_big", body=body)
    answer = request(gateway.ingest, "POST", "/in/stripe", headers, body)
    assert (answer.status, answer.code) == (413, "body_too_large")
    chunked = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
    answer = request(gateway.ingest, "POST", "/in/stripe", headers + [("Transfer-Encoding", "chunked")], chunked)
    assert (answer.status, answer.code) == (413, "body_too_large")


def test_headers_over_the_limit_are_431(gateway):
    answer = request(gateway.ingest, "POST", "/in/stripe", [("X-Pad", "x" * 70000)], b"")
    assert (answer.status, answer.code) == (431, "headers_too_large")


def test_one_provider_id_on_two_sources_is_two_events(start, backend):
    tables = config(backend.url, "github")
    tables["sources"]["second"] = {**tables["sources"]["github"]}
    gateway = start(tables)
    message = senders.github(GITHUB, "guid-shared")
    assert [post(gateway.ingest, f"/in/{source}", message).header("Hookonce-Status") for source in ("github", "second")] == ["accepted"] * 2


def test_any_configured_secret_verifies_and_the_copy_with_the_other_one_is_a_duplicate(start, backend):
    other = "whsec_other00000000000000000000000"
    tables = config(backend.url, "stripe")
    tables["sources"]["stripe"]["secrets"] = [STRIPE, other]
    gateway = start(tables)
    first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_rotated"))
    second = post(gateway.ingest, "/in/stripe", senders.stripe(other, "evt_rotated"))
    assert [first.header("Hookonce-Status"), second.header("Hookonce-Status")] == ["accepted", "duplicate"]
    arrivals = gateway.event(first.json()["id"])["arrivals"]
    assert [arrival["secret"] for arrival in arrivals] == [0, 1]
    assert arrivals[1]["verdict"] == "duplicate" and arrivals[1]["same_body"] is True


def test_a_duplicate_with_other_bytes_is_still_a_duplicate_and_says_so(gateway):
    first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_bytes"))
    again = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_bytes", body=senders.stripe_body("evt_bytes", pending_webhooks=1)))
    assert again.header("Hookonce-Status") == "duplicate"
    assert gateway.event(first.json()["id"])["arrivals"][1]["same_body"] is False


def test_generic_hmac_token_and_none(start, backend):
    import hashlib
    import hmac as hmac_module
    tables = config(backend.url)
    tables["sources"] = {
        "signed": {"provider": "hmac", "secrets": ["k1"], "destinations": ["backend"], "dedup_key": "header:X-Id",
                   "hmac": {"header": "X-Sig", "prefix": "v1=", "signed": "{timestamp}.{id}.{body}", "timestamp": "header:X-Time"}},
        "token": {"provider": "token", "secrets": ["t1"], "destinations": ["backend"], "dedup_key": "json:/id", "token": {"header": "X-Token"}},
        "open": {"provider": "none", "destinations": ["backend"], "dedup_key": "json:/id"},
    }
    gateway = start(tables)
    import time
    now = str(int(time.time()))
    signature = "v1=" + hmac_module.new(b"k1", now.encode() + b".7.hello", hashlib.sha256).hexdigest()
    headers = [("X-Sig", signature), ("X-Time", now), ("X-Id", "7")]
    assert request(gateway.ingest, "POST", "/in/signed", headers, b"hello").header("Hookonce-Status") == "accepted"
    assert request(gateway.ingest, "POST", "/in/signed", headers[:2] + [("X-Id", "8")], b"hello").code == "signature_mismatch"
    assert request(gateway.ingest, "POST", "/in/token", [("X-Token", "t1")], b'{"id":5}').header("Hookonce-Status") == "accepted"
    assert request(gateway.ingest, "POST", "/in/token", [("X-Token", "t2")], b'{"id":5}').status == 401
    assert request(gateway.ingest, "POST", "/in/token", [], b'{"id":5}').code == "signature_missing"
    assert request(gateway.ingest, "POST", "/in/open", [], b'{"id":"a"}').header("Hookonce-Status") == "accepted"
    assert "none" in gateway.log()


def test_a_duplicate_of_a_dead_delivery_rearms_it(start, backend):
    backend.answer_with(lambda r, nth: 410 if nth == 1 else 200)
    gateway = start(config(backend.url, "stripe"))
    first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_dead"))
    event_id = first.json()["id"]
    gateway.wait_for_state(event_id, "dead")
    again = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_dead"))
    assert again.json() == {"status": "rearmed", "id": event_id}
    gateway.wait_for_state(event_id, "delivered")
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_dead")).json()["status"] == "duplicate"
    assert [r.header("Hookonce-Attempt") for r in backend.requests] == ["1", "2"]


def test_types_select_the_destination(start, backend):
    tables = config(backend.url, "stripe")
    tables["sources"]["stripe"]["destinations"] = [{"name": "backend", "types": ["invoice.*"]}]
    gateway = start(tables)
    paid = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_paid", "invoice.paid"))
    other = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_other", "charge.succeeded"))
    gateway.wait_for_state(paid.json()["id"], "delivered")
    assert gateway.event(other.json()["id"])["deliveries"] == []
    assert [r.provider_id for r in backend.requests] == ["evt_paid"]


def test_ids_that_differ_in_a_lone_surrogate_are_two_events(gateway):
    answers = [post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "", body=b'{"id":"evt_%s","type":"a"}' % escape)).json()
               for escape in (rb"\ud800", rb"\ud801", rb"\ufffd", rb"\ud800")]
    assert [answer["status"] for answer in answers] == ["accepted", "accepted", "accepted", "duplicate"]
    assert answers[3]["id"] == answers[0]["id"]
