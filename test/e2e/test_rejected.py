"""Rejected requests: listed with the reason, and accepted once the secret is corrected."""
import json
import os
import signal
import subprocess
import time

from support import senders
from support.gateway import Gateway, config
from support.http_client import post

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
