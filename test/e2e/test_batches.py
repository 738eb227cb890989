"""Bodies of several provider events: one arrival, an event where at least one item is new, and the destination told which."""
import hashlib
import hmac
import json

import pytest

from support.gateway import config
from support.http_client import post

SECRET = "batch-secret"


def batching(backend, **source):
    tables = config(backend.url, destination={"retry": {"first": "20ms", "max": "20ms", "attempts": 20}})
    tables["sources"]["batches"] = {"provider": "hmac", "secrets": [SECRET], "destinations": ["backend"],
                                    "hmac": {"header": "X-Signature"}, "items": "json:/events/*", "dedup_key": "json:/id", **source}
    return tables


def send(gateway, *ids):
    body = json.dumps({"sent": "now", "events": [{"id": one, "n": place} for place, one in enumerate(ids)]}, indent=1).encode()
    signature = hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest()
    answer = post(gateway.ingest, "/in/batches", ([("Content-Type", "application/json"), ("X-Signature", signature)], body))
    assert answer.status == 200, answer
    return answer, body


def test_of_five_items_two_are_new_and_every_attempt_and_replay_names_them(start, backend):
    backend.answer_with(lambda request, _: 500 if request.header("Hookonce-Attempt") in ("1", "2") and b"evt_5" in request.body else 200)
    gateway = start(batching(backend))
    first, _ = send(gateway, "evt_1", "evt_2", "evt_3")
    gateway.wait_for_state(first.json()["id"], "delivered")
    second, body = send(gateway, "evt_1", "evt_4", "evt_2", "evt_5", "evt_3")
    assert second.json()["status"] == "accepted"
    event_id = second.json()["id"]
    gateway.wait_for_state(event_id, "delivered")
    again, _ = send(gateway, "evt_1", "evt_4", "evt_2", "evt_5", "evt_3")
    assert again.json() == {"status": "duplicate", "id": first.json()["id"]}, "of the oldest that it meets"
    assert gateway.api("POST", f"/api/v1/events/{event_id}/replay").status == 202
    backend.wait_until(lambda: sum(request.event == event_id for request in backend.requests) == 4)
    received = [request for request in backend.requests if request.event == event_id]
    assert [request.all("Hookonce-New-Items") for request in received] == [["1,3"]] * 4
    assert {request.body for request in received} == {body}
    assert [request.header("Hookonce-New-Items") for request in backend.requests if request.event == first.json()["id"]] == ["0,1,2"]
    assert gateway.event(event_id)["new_items"] == [1, 3]
    assert len(gateway.events()) == 2
    for key, found in (("evt_1", first), ("evt_5", second), ("evt_4", second)):
        assert [item["id"] for item in gateway.events(key=key)] == [found.json()["id"]]


def test_new_items_outlive_a_kill(start, backend):
    gateway = start(batching(backend))
    send(gateway, "evt_1")
    backend.wait_for(1)
    backend.answer_with(lambda request, _: 500)
    answer, _ = send(gateway, "evt_1", "evt_2")
    backend.wait_for(3)
    gateway.kill()
    backend.answer_with(lambda request, _: 200)
    gateway.start()
    gateway.wait_for_state(answer.json()["id"], "delivered")
    assert backend.requests[-1].header("Hookonce-New-Items") == "1"
    assert send(gateway, "evt_2", "evt_1")[0].json()["status"] == "duplicate"


@pytest.mark.parametrize("missing_key, status", [("accept", 200), ("hash", 200), ("reject", 422)])
def test_an_item_without_a_key_is_treated_as_missing_key_says(start, backend, missing_key, status):
    gateway = start(batching(backend, missing_key=missing_key))
    body = b'{"events":[{"id":"evt_1"},{"note":"no id"}]}'
    headers = [("X-Signature", hmac.new(SECRET.encode(), body, hashlib.sha256).hexdigest())]
    answers = [post(gateway.ingest, "/in/batches", (headers, body)) for _ in range(2)]
    assert [answer.status for answer in answers] == [status, status]
    if missing_key == "accept":
        assert [gateway.event(answer.json()["id"])["new_items"] for answer in answers] == [[0, 1], [1]]
    if missing_key == "hash":
        assert answers[1].json() == {"status": "duplicate", "id": answers[0].json()["id"]}
    if missing_key == "reject":
        assert answers[0].json()["error"]["code"] == "dedup_key_missing"
