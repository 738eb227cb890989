"""The admin API: who may call, and what comes back."""
import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post, request

STRIPE = SECRETS["stripe"]


@pytest.mark.parametrize("host, status", [("127.0.0.1", 200), ("localhost", 200), ("localhost:8081", 200), ("[::1]:8081", 200), ("10.1.2.3", 200),
                                          ("evil.example", 421), ("localhost.evil.example", 421), ("listed.example", 200), ("LISTED.example:99", 200)])
def test_the_host_must_be_an_ip_literal_localhost_or_listed(start, backend, host, status):
    gateway = start(config(backend.url, "stripe", server={"admin_hosts": ["listed.example"]}))
    assert request(gateway.admin, "GET", "/api/v1/events", [("Host", host)]).status == status


@pytest.mark.parametrize("origin, status", [("null", 403), ("http://evil.example", 403), ("https://127.0.0.1:1", 403), (None, 202)])
def test_a_post_with_a_foreign_origin_is_refused(gateway, origin, status):
    event = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_origin")).json()["id"]
    headers = [] if origin is None else [("Origin", origin)]
    assert request(gateway.admin, "POST", f"/api/v1/events/{event}/replay", headers).status == status


def test_the_own_origin_passes(gateway):
    event = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_own")).json()["id"]
    headers = [("Host", gateway.admin), ("Origin", f"http://{gateway.admin}")]
    assert request(gateway.admin, "POST", f"/api/v1/events/{event}/replay", headers).status == 202


def test_a_post_with_a_body_needs_json(gateway):
    event = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_type")).json()["id"]
    path = f"/api/v1/events/{event}/replay"
    assert request(gateway.admin, "POST", path, [("Content-Type", "text/plain")], b"{}").status == 415
    assert request(gateway.admin, "POST", path, [], b"{}").status == 415
    assert request(gateway.admin, "POST", path, [("Content-Type", "application/json; charset=utf-8")], b"{}").status == 202
    assert request(gateway.admin, "POST", path, [("Content-Type", "application/json")], b"{").status == 400


def test_with_a_token_every_call_but_health_needs_it(start, backend):
    gateway = start(config(backend.url, "stripe", server={"admin_token": "token-for-tests"}))
    for path in ("/healthz", "/readyz"):
        assert request(gateway.admin, "GET", path).status == 200
    for path in ("/api/v1/events", "/metrics", "/api/v1/sources"):
        assert request(gateway.admin, "GET", path).status == 401, path
        assert request(gateway.admin, "GET", path, [("Authorization", "Bearer wrong")]).status == 401, path
        assert request(gateway.admin, "GET", path, [("Authorization", "Bearer token-for-tests")]).status == 200, path


def test_unknown_things_are_404_and_wrong_methods_405(gateway):
    assert gateway.api("GET", "/api/v1/nothing").status == 404
    assert gateway.api("GET", "/api/v1/events/0199aaaa-0000-7000-8000-000000000000").status == 404
    assert gateway.api("GET", "/api/v1/events/not-an-id").status == 404
    assert gateway.api("POST", "/api/v1/events/0199aaaa-0000-7000-8000-000000000000/replay").status == 404
    assert gateway.api("DELETE", "/api/v1/events").status == 405
    assert gateway.api("GET", "/api/v1/events?limit=501").status == 400
    assert gateway.api("GET", "/api/v1/events?cursor=nonsense").status == 400


def test_an_event_shows_what_the_contract_names(gateway, backend):
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_shape"))
    event = gateway.wait_for_state(answer.json()["id"], "delivered")
    assert set(event) == {"id", "source", "type", "key", "ordering_key", "received_at", "state", "duplicates", "size", "headers", "body",
                          "arrivals", "deliveries", "new_items"}
    assert (event["source"], event["type"], event["key"], event["ordering_key"]) == ("stripe", "invoice.paid", "evt_shape", "cus_sample")
    assert event["body"].encode() == backend.requests[0].body and event["size"] == len(backend.requests[0].body)
    arrival = event["arrivals"][0]
    assert set(arrival) == {"at", "verdict", "cause", "reason", "certain", "remote", "retry", "provider_time", "secret", "same_key", "same_body",
                            "same_signature", "since_first_ms"}
    assert (arrival["verdict"], arrival["cause"], arrival["remote"], arrival["since_first_ms"]) == ("accepted", "first", "127.0.0.1", 0)
    delivery = event["deliveries"][0]
    assert set(delivery) == {"destination", "state", "orphaned", "next_attempt_at", "held", "behind", "delivered_at", "replayed",
                             "attempts"}
    assert delivery["state"] == "delivered" and delivery["delivered_at"] and delivery["next_attempt_at"] is None
    assert set(delivery["attempts"][0]) == {"number", "started_at", "duration_ms", "outcome", "status", "error", "response"}


def test_bytes_that_are_not_utf8_are_shown_as_base64(gateway):
    import base64
    answer = post(gateway.ingest, "/in/github", senders.github(SECRETS["github"], "guid-b64", body=b"\xff\x00"))
    event = gateway.event(answer.json()["id"])
    assert "body" not in event and base64.b64decode(event["body_base64"]) == b"\xff\x00"


def test_secret_bearing_headers_are_masked_unless_revealed(gateway):
    headers, body = senders.stripe(STRIPE, "evt_mask")
    secret = [("authorization", "Bearer abc-very-private"), ("COOKIE", "sid=very-private"), ("X-Auth-Token", "very-private")]
    answer = request(gateway.ingest, "POST", "/in/stripe", headers + secret, body)
    assert b"very-private" not in gateway.api("GET", f"/api/v1/events/{answer.json()['id']}").body
    assert b"very-private" in gateway.api("GET", f"/api/v1/events/{answer.json()['id']}?reveal=true").body


def test_pages_hold_every_event_once_also_while_new_ones_arrive(gateway):
    for number in range(25):
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_page_{number}"))
    seen, cursor = [], ""
    while cursor is not None:
        page = gateway.api("GET", "/api/v1/events?limit=4" + (f"&cursor={cursor}" if cursor else "")).json()
        seen += [event["key"] for event in page["items"]]
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_meanwhile_{len(seen)}"))
        cursor = page["next_cursor"]
    assert seen == [f"evt_page_{number}" for number in reversed(range(25))]


def test_filters_are_data_never_syntax(gateway):
    for number, text in enumerate(["100%", "a_b", "it's", "x\" OR 1=1"]):
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_q_{number}", body=senders.stripe_body(f"evt_q_{number}", note=text)))
    assert [e["key"] for e in gateway.events(q="100%")] == ["evt_q_0"]
    assert [e["key"] for e in gateway.events(q="a_b")] == ["evt_q_1"]
    assert [e["key"] for e in gateway.events(q="it's")] == ["evt_q_2"]
    assert gateway.events(q="%") == gateway.events(q="100%")
    assert gateway.events(key="evt_q_1' OR '1'='1") == []
    assert [e["key"] for e in gateway.events(key="evt_q_3")] == ["evt_q_3"]
    assert len(gateway.events(type="invoice.paid")) == 4
    assert gateway.events(type="invoice.%") == []
    assert len(gateway.events(source="stripe", since="1h")) == 4
    assert gateway.events(until="1h") == []


def test_replay_of_a_destination_that_is_not_the_sources_is_422(gateway):
    event = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_422")).json()["id"]
    assert gateway.api("POST", f"/api/v1/events/{event}/replay", {"destination": "nowhere"}).status == 422


def test_replays_by_filter_count_first_and_then_do_it(gateway, backend):
    for number in range(7):
        answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_many_{number}"))
        gateway.wait_for_state(answer.json()["id"], "delivered")
    dry = gateway.api("POST", "/api/v1/replays", {"source": "stripe", "dry_run": True})
    assert (dry.status, dry.json()) == (202, {"matched": 7})
    assert gateway.api("POST", "/api/v1/replays", {"dead": True}).json() == {"matched": 0}
    assert len(backend.requests) == 7
    assert gateway.api("POST", "/api/v1/replays", {"source": "stripe"}).json() == {"matched": 7}
    backend.wait_for(14)
    assert set(backend.effects.values()) == {2}


def test_metrics_count_what_happened(gateway):
    for _ in range(3):
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_metric"))
    post(gateway.ingest, "/in/stripe", senders.stripe("whsec_no000000000000000000000000000", "evt_metric"))
    text = gateway.api("GET", "/metrics")
    assert text.status == 200 and text.header("Content-Type").startswith("text/plain")
    assert gateway.metric("hookonce_accepted_total") == 1
    assert gateway.metric("hookonce_duplicates_total") == 2
    assert gateway.metric("hookonce_rejected_total") == 1
    assert gateway.metric("hookonce_events") == 1  # counted by the first reader of /metrics


def test_the_api_describes_itself(gateway):
    document = gateway.api("GET", "/api/v1/openapi.json").json()
    assert document["openapi"].startswith("3.1")
    assert {"/api/v1/events", "/api/v1/events/{id}", "/api/v1/events/{id}/replay", "/api/v1/replays"} <= set(document["paths"])
