"""`hookonce why` and everything else that says what caused a duplicate: one event per cause, told rightly everywhere."""
import json
import os
import re
import subprocess
import time

import pytest

from support import senders
from support.gateway import SECRETS, Gateway, config
from support.http_client import post
from support.sdks import faketime_environment

STRIPE = SECRETS["stripe"]
LISTENER = "whsec_listener00000000000000000000"


@pytest.fixture
def gateway(binary, tmp_path, backend):
    tables = config(backend.url, "stripe", "slack", "github")
    tables["sources"]["stripe"]["secrets"] = [STRIPE, LISTENER]
    tables["sources"]["shop"] = {"provider": "stripe", "secrets": [STRIPE], "destinations": ["backend"],
                                 "dedup_also": ["json:/data/object/id"]}
    with Gateway(binary, tmp_path, tables) as gateway:
        yield gateway


def move_clock(gateway, offset):
    gateway.stop()
    gateway.environment.update(faketime_environment(offset))
    gateway.start()


@pytest.fixture
def why(binary, gateway):
    def call(event_id, *arguments):
        environment = {**os.environ, "HOOKONCE_ADMIN": f"http://{gateway.admin}"}
        return subprocess.run([binary, "why", event_id, *arguments], capture_output=True, text=True, timeout=120, check=False, env=environment,
                              stdin=subprocess.DEVNULL)
    return call


def causes_of(why, event_id):
    result = why(event_id, "--json")
    assert result.returncode == 0, result
    return [arrival["cause"] for arrival in json.loads(result.stdout)["arrivals"]]


def send(gateway, path, request, expected):
    answer = post(gateway.ingest, path, request)
    assert (answer.status, answer.header("Hookonce-Status")) == (200, expected), answer
    return answer.json()["id"]


def test_each_cause_is_named_rightly(gateway, why):
    now = int(time.time())
    twin = send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_twin"), "accepted")
    send(gateway, "/in/stripe", senders.stripe(LISTENER, "evt_twin"), "duplicate")
    send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_pair", at=now), "accepted")
    send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_pair", at=now - 1), "duplicate")
    send(gateway, "/in/slack", senders.slack(SECRETS["slack"], "EvRetry"), "accepted")
    send(gateway, "/in/slack", senders.slack(SECRETS["slack"], "EvRetry", retry=(1, "http_timeout")), "duplicate")
    send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_changed"), "accepted")
    send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_changed", body=senders.stripe_body("evt_changed", amount=1)), "duplicate")
    send(gateway, "/in/shop", senders.stripe(STRIPE, "evt_one"), "accepted")
    send(gateway, "/in/shop", senders.stripe(STRIPE, "evt_two"), "duplicate")
    captured = senders.stripe(STRIPE, "evt_captured", at=now)
    send(gateway, "/in/stripe", captured, "accepted")
    send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_resent"), "accepted")
    send(gateway, "/in/github", senders.github(SECRETS["github"], "guid-again"), "accepted")

    counts = {source["name"]: source["counts"] for source in gateway.api("GET", "/api/v1/sources").json()["items"]}
    assert counts["stripe"]["causes"] == {"provider_retry": 0, "concurrent_twin": 2, "manual_resend": 0, "replayed_request": 0,
                                          "same_id_other_body": 1, "semantic_twin": 0}
    assert counts["stripe"]["duplicates"] == 3
    assert counts["slack"]["causes"]["provider_retry"] == 1 and counts["shop"]["causes"]["semantic_twin"] == 1
    assert gateway.api("GET", "/api/v1/stats").json()["sources"]["stripe"]["causes"] == counts["stripe"]["causes"]
    metrics = gateway.api("GET", "/metrics").body.decode()
    assert 'hookonce_duplicates_total{cause="concurrent_twin",source="stripe"} 2' in metrics, metrics
    gateway.wait_until(lambda: re.search(r"duplicate.*key=evt_twin.*cause=concurrent_twin", gateway.log()))
    gateway.wait_for_state(twin, "delivered")

    move_clock(gateway, "+1m")
    send(gateway, "/in/stripe", captured, "duplicate")
    move_clock(gateway, "+61m")
    send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_resent", at=int(time.time()) + 61 * 60), "duplicate")
    send(gateway, "/in/github", senders.github(SECRETS["github"], "guid-again"), "duplicate")

    assert causes_of(why, "evt_twin") == ["first", "concurrent_twin"]
    assert causes_of(why, twin) == ["first", "concurrent_twin"]
    assert causes_of(why, "evt_pair") == ["first", "concurrent_twin"]
    assert causes_of(why, "EvRetry") == ["first", "provider_retry"]
    assert causes_of(why, "evt_changed") == ["first", "same_id_other_body"]
    assert causes_of(why, "evt_one") == ["first", "semantic_twin"]
    assert causes_of(why, "evt_captured") == ["first", "replayed_request"]
    assert causes_of(why, "evt_resent") == ["first", "manual_resend"]
    assert causes_of(why, "guid-again") == ["first", "manual_resend"]

    told = why("evt_twin").stdout
    assert re.search(r"● accepted +first +from 127\.0\.0\.1 +secret #1\n", told), told
    assert re.search(r"○ duplicate +concurrent twin +from 127\.0\.0\.1 +secret #2 .*same bytes, new signature\n +verified with another secret", told)
    assert told.endswith("\n  2 arrivals, 1 event, 1 effect\n") and "delivered once (attempt 1, 200" in told
    assert "\033" not in told
    assert re.search(r"concurrent twin +from 127\.0\.0\.1 +secret #1 .*\n.*probably two endpoints", why("evt_pair").stdout)
    assert re.search(r"provider retry +from .* retry 1 http_timeout", why("EvRetry").stdout)
    assert re.search(r"same id other body .*other bytes", why("evt_changed").stdout)
    assert re.search(r"semantic twin .*another id, other bytes", why("evt_one").stdout)
    assert re.search(r"replayed request .*\+1 min .*same bytes, same signature", why("evt_captured").stdout)
    assert re.search(r"manual resend .*\+1 h 1 min +same bytes, new signature\n.*probably sent again by hand", why("evt_resent").stdout)


def test_a_replay_is_an_effect_of_its_own(gateway, why, backend):
    event = send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_replayed"), "accepted")
    gateway.wait_for_state(event, "delivered")
    assert gateway.api("POST", f"/api/v1/events/{event}/replay").status == 202
    backend.wait_for(2)
    gateway.wait_for_state(event, "delivered")
    told = why("evt_replayed").stdout
    assert "delivered 2 times, replayed (attempt 2, 200" in told and told.endswith("\n  1 arrival, 1 event, 2 effects\n"), told
    found = json.loads(why(event, "--json").stdout)
    assert found["effects"] == 2 and found["deliveries"][0]["replayed"] is True and "body" not in found and "headers" not in found


def test_an_id_that_several_events_have_lists_them(gateway, why):
    send(gateway, "/in/stripe", senders.stripe(STRIPE, "evt_shared"), "accepted")
    send(gateway, "/in/shop", senders.stripe(STRIPE, "evt_shared"), "accepted")
    result = why("evt_shared")
    assert result.returncode == 1 and "2 events have the id evt_shared" in result.stderr and result.stdout.count("evt_shared") == 2
    assert len(json.loads(why("evt_shared", "--json").stdout)["items"]) == 2
    assert why("evt_nobody").returncode == 1
