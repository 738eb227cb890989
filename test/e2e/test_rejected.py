"""Rejected requests: listed with the reason, and accepted once the secret is corrected."""
import base64
import hashlib
import hmac
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

from support import senders
from support.gateway import SECRETS, Gateway, config
from support.http_client import post
from support.sdks import faketime_environment

DOCS = pathlib.Path(__file__).parents[2] / "docs"
RIGHT = "whsec_sample1111111111111111111111"
WRONG = "whsec_sample2222222222222222222222"


def rejected(gateway, query=""):
    answer = gateway.api("GET", "/api/v1/rejected" + query)
    assert answer.status == 200, answer
    return answer.json()["items"]


def stripe_config(backend, secret):
    tables = config(backend.url, "stripe")
    tables["sources"]["stripe"]["secrets"] = [secret]
    return tables


def test_a_wrong_secret_is_seen_and_mended_and_nothing_was_lost(binary, tmp_path, backend):
    with Gateway(binary, tmp_path, stripe_config(backend, WRONG)) as gateway:
        for nth in range(20):
            assert post(gateway.ingest, "/in/stripe", senders.stripe(RIGHT, f"evt_{nth}")).code == "signature_mismatch"
        gateway.wait_until(lambda: len(rejected(gateway)) == 20)  # ten of a source are written a second
        listed = rejected(gateway)
        assert {json.loads(item["body"])["id"] for item in listed} == {f"evt_{nth}" for nth in range(20)}
        assert all(item["code"] == "signature_mismatch" and "secret" in item["reason"] and item["source"] == "stripe" for item in listed)
        assert RIGHT not in json.dumps(listed) and WRONG not in json.dumps(listed)
        assert backend.requests == [] and gateway.events() == []

        environment = {**os.environ, "HOOKONCE_ADMIN": f"http://{gateway.admin}", "NO_COLOR": "1"}
        early = subprocess.run([binary, "rejected", "--accept", listed[0]["id"]], env=environment, capture_output=True, text=True, check=False)
        assert early.returncode == 1 and "signature_mismatch" in early.stderr, early

        gateway.configure(stripe_config(backend, RIGHT))
        gateway.process.send_signal(signal.SIGHUP)
        gateway.wait_until(lambda: "reloaded" in gateway.log())
        shown = subprocess.run([binary, "rejected"], env=environment, capture_output=True, text=True, check=True).stdout
        assert shown.count("signature_mismatch") == len(listed), shown
        accepted = subprocess.run([binary, "rejected", "--accept", "all", "--json"], env=environment, capture_output=True, text=True, check=True)
        results = json.loads(accepted.stdout)["items"]
        assert len({item["id"] for item in results}) == 20
        assert sum(item["status"] == "accepted" for item in results) == 20
        assert rejected(gateway) == []
        backend.wait_for(20)
        assert sorted(event["key"] for event in gateway.events()) == sorted(f"evt_{nth}" for nth in range(20))
        assert all(count == 1 for count in backend.effects.values())
        assert post(gateway.ingest, "/in/stripe", senders.stripe(RIGHT, "evt_7")).header("Hookonce-Status") == "duplicate"


def test_equal_ones_are_counted_and_survive_a_restart(binary, tmp_path, backend):
    with Gateway(binary, tmp_path, stripe_config(backend, WRONG)) as gateway:
        request = senders.stripe(RIGHT, "evt_1", at=int(time.time()))
        for _ in range(3):
            assert post(gateway.ingest, "/in/stripe", request).status == 401
        gateway.wait_until(lambda: [item["count"] for item in rejected(gateway)] == [3])
        gateway.stop()
        gateway.start()
        assert [item["count"] for item in rejected(gateway)] == [3]
        assert rejected(gateway, "?source=nobody") == []
        assert gateway.api("GET", "/api/v1/rejected?sorce=stripe").status == 400
        assert gateway.api("GET", "/api/v1/rejected?cursor=none").status == 400
        assert gateway.api("POST", "/api/v1/rejected/0199a1b2-3c4d-7e5f-8a6b-0c1d2e3f4a5b/accept").status == 404


SHOP = "shop-secret"
SENT = json.dumps({"id": "evt_1", "event_id": "Ev1", "name": "Zoë"}, separators=(",", ":")).encode()  # with \u00eb
REWRITTEN = json.dumps({"id": "evt_1", "event_id": "Ev1", "name": "Zoë"}, ensure_ascii=False, indent=2).encode()
OTHER = json.dumps({"id": "evt_2", "event_id": "Ev1", "name": "Zoë"}, ensure_ascii=False, indent=2).encode()


def shop(secret, body):
    """As Shopify signs: base64 of HMAC-SHA256 over the body alone."""
    signature = base64.b64encode(hmac.new(secret.encode(), body, hashlib.sha256).digest()).decode()
    return [("Content-Type", "application/json"), ("X-Shopify-Hmac-Sha256", signature)], body


# What each provider sends, by source.
SENDERS = {
    "stripe": lambda body: senders.stripe(SECRETS["stripe"], "evt_1", body=body),
    "slack": lambda body: senders.slack(SECRETS["slack"], body=body),
    "github": lambda body: senders.github(SECRETS["github"], "d-1", body=body),
    "standard_webhooks": lambda body: senders.standard_webhooks(SECRETS["standard_webhooks"], "msg_1", body=body),
    "shop": lambda body: shop(SHOP, body),
}


@pytest.fixture
def five(binary, tmp_path, backend):
    tables = config(backend.url, "stripe", "slack", "github", "standard_webhooks")
    tables["sources"]["shop"] = {"provider": "hmac", "secrets": [SHOP], "destinations": ["backend"], "dedup_key": "json:/id",
                                 "hmac": {"header": "X-Shopify-Hmac-Sha256", "encoding": "base64"}}
    tables["sources"]["stripe-eu"] = {"provider": "stripe", "secrets": [RIGHT], "destinations": ["backend"]}
    with Gateway(binary, tmp_path, tables) as gateway:
        yield gateway


def told_and_kept(gateway, source, request):
    """What the sender is told, and the reason that is kept."""
    before = {item["id"] for item in rejected(gateway)}
    answer = post(gateway.ingest, f"/in/{source}", request)
    assert answer.status == 401, answer
    gateway.wait_until(lambda: len(rejected(gateway)) > len(before))
    kept, = [item for item in rejected(gateway) if item["id"] not in before]
    assert kept["source"] == source and kept["code"] == answer.code
    return answer.json()["error"]["message"], kept["reason"]


@pytest.mark.parametrize("source", SENDERS)
def test_a_body_that_was_changed_after_signing_is_said_to_be_only_where_it_is_proven(five, source):
    headers, body = SENDERS[source](SENT)
    assert body == SENT
    told, reason = told_and_kept(five, source, (headers, REWRITTEN))
    assert "the body was changed after signing: the signature fits the same JSON without white space, with \\u escapes" in reason
    assert "changed" not in told, "the sender learns nothing of it"
    told, reason = told_and_kept(five, source, (headers, OTHER))
    assert reason == told and "changed" not in reason
    told, reason = told_and_kept(five, source, (headers, b""))
    assert reason == told + "; the body arrived empty: perhaps something on the way dropped it"
    assert not any(secret in json.dumps(rejected(five)) for secret in [*SECRETS.values(), SHOP, RIGHT])


@pytest.mark.parametrize("source", SENDERS)
def test_the_secret_of_another_source_is_named_by_that_source(five, source):
    wrong = "stripe-eu" if source == "stripe" else "stripe"
    told, reason = told_and_kept(five, wrong, SENDERS[source](SENT))
    assert f'it verifies with the secret of source "{source}"' in reason and f"/in/{source}," in reason
    assert source not in told.replace("stripe listen", "").replace("stripe-eu", "")
    told, reason = told_and_kept(five, "stripe", senders.stripe("whsec_nobodys", "evt_2"))
    assert reason == told


def test_two_secrets_in_each_others_place_are_named(five):
    told, reason = told_and_kept(five, "stripe", senders.stripe(SECRETS["slack"], "evt_exchanged"))
    assert 'it verifies with a secret that the configuration gives to source "slack"' in reason
    assert "slack" not in told


def test_quotes_that_came_along_with_a_secret_are_named(binary, tmp_path, backend):
    tables = stripe_config(backend, "env:QUOTED")
    with Gateway(binary, tmp_path, tables, environment={"QUOTED": f'"{RIGHT}"'}) as gateway:
        told, reason = told_and_kept(gateway, "stripe", senders.stripe(RIGHT, "evt_1"))
        assert "it verifies with a configured secret without the quotes around it" in reason and "quotes" not in told
        told, reason = told_and_kept(gateway, "stripe", senders.stripe(WRONG, "evt_2"))
        assert reason == told and RIGHT not in json.dumps(rejected(gateway)) + gateway.log()


def test_a_wrong_clock_is_named_with_its_distance(five):
    told, reason = told_and_kept(five, "stripe", senders.stripe(SECRETS["stripe"], "evt_1", at=int(time.time()) + 412))
    assert re.search(r"the signature is right, and this machine's clock is 41[0-2] s behind its time stamp", reason), reason
    assert "in the future" in told
    told, reason = told_and_kept(five, "slack", senders.slack(SECRETS["slack"], "Ev1", at=int(time.time()) - 500))
    assert re.search(r"this machine's clock is 50[0-5] s ahead of its time stamp", reason), reason
    stale = rejected(five, "?source=slack")[0]
    answer = five.api("POST", f"/api/v1/rejected/{stale['id']}/accept")
    assert answer.status == 422 and answer.code == "timestamp_out_of_tolerance" and "`tolerance`" in answer.json()["error"]["message"]


def test_the_one_whose_answer_ended_the_run_is_listed_too(binary):
    nobody = {**os.environ, "HOOKONCE_ADMIN": "http://127.0.0.1:1"}
    ended = subprocess.run([binary, "rejected", "--json", "--accept", "one", "two"], env=nobody, capture_output=True, text=True, check=False)
    items = json.loads(ended.stdout)["items"]
    assert ended.returncode == 1 and [item["rejected"] for item in items] == ["one"] and items[0]["error"], ended


def test_an_accepted_one_is_received_then_and_arrived_before(binary, tmp_path, backend):
    with Gateway(binary, tmp_path, stripe_config(backend, WRONG)) as gateway:
        post(gateway.ingest, "/in/stripe", senders.stripe(RIGHT, "evt_1"))
        gateway.wait_until(lambda: len(rejected(gateway)) == 1)
        kept, = rejected(gateway)
        gateway.stop()
        gateway.environment.update(faketime_environment("+2h"))
        gateway.configure(stripe_config(backend, RIGHT))
        gateway.start()
        event = gateway.api("POST", f"/api/v1/rejected/{kept['id']}/accept").json()["id"]
        shown = gateway.api("GET", f"/api/v1/events/{event}").json()
        assert shown["arrivals"][0]["at"] == kept["first_at"]
        assert shown["received_at"] > kept["first_at"]
        assert gateway.events(since=kept["first_at"])[0]["id"] == event
        backend.wait_for(1)
        assert backend.requests[0].header("Hookonce-Received-At") == shown["received_at"]


def test_the_documents_show_the_reasons_that_are_given(five):
    told, reason = told_and_kept(five, "stripe", senders.stripe("whsec_nobodys", "evt_1"))
    assert reason == told
    assert json.dumps(reason) in (DOCS / "http-api.md").read_text()
    assert reason.removeprefix('source "stripe": ') in (DOCS / "cli.md").read_text()
    headers, _ = senders.stripe(SECRETS["stripe"], "evt_2", body=SENT)
    compact = json.dumps({"id": "evt_1", "event_id": "Ev1", "name": "Zo\u00eb"}, indent=2).encode()
    _, reason = told_and_kept(five, "stripe", (headers, compact))
    assert reason.removeprefix('source "stripe": ') in (DOCS / "cli.md").read_text()
    _, reason = told_and_kept(five, "stripe", senders.stripe(RIGHT, "evt_3"))
    assert reason.removeprefix('source "stripe": ') in (DOCS / "cli.md").read_text()


def test_requests_to_unknown_paths_are_counted_without_a_label(five):
    assert five.metric("hookonce_no_such_source_total") == 0
    for nth in range(3):
        assert post(five.ingest, f"/in/unknown-{nth}", senders.stripe(RIGHT, "evt_1")).code == "no_such_source"
    assert five.metric("hookonce_no_such_source_total") == 3
