"""Pause and resume: for the whole cluster, across restarts, and nothing is lost."""
import json
import os
import subprocess

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

STRIPE = SECRETS["stripe"]
EVENTS = 40


def tables_for(backend, url="sqlite:inbox.db", **destination):
    return config(backend.url, "stripe", store={"url": url}, destination=destination)


def send(gateway, first, count):
    for number in range(first, first + count):
        answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_{number}"))
        assert (answer.status, answer.header("Hookonce-Status")) == (200, "accepted")


def call(gateway, verb, name="backend"):
    answer = gateway.api("POST", f"/api/v1/destinations/{name}/{verb}")
    assert answer.status == 200, answer
    assert answer.json() == {"name": name, "paused": verb == "pause"}


def stats(gateway):
    return gateway.api("GET", "/api/v1/stats").json()


def test_a_pause_on_one_gateway_holds_the_others_and_a_resume_frees_them(join, backend, shared_url):
    one, other = (join(name, tables_for(backend, shared_url)) for name in ("one", "other"))
    send(one, 0, 1)
    backend.wait_for(1)
    one.wait_until(lambda: stats(one)["deliveries"]["in_flight"] == 0)
    call(one, "pause")
    for first, gateway in ((1, one), (1 + EVENTS, other)):
        send(gateway, first, EVENTS)
    assert stats(other)["paused"] == ["backend"]
    assert stats(other)["destinations"]["backend"]["waiting"] == 2 * EVENTS
    assert len(backend.requests) == 1
    one.stop()
    third = join("third", tables_for(backend, shared_url))
    assert stats(third)["paused"] == ["backend"] and third.metric("hookonce_destination_paused") == 1
    assert len(backend.requests) == 1
    call(other, "resume")
    backend.wait_until(lambda: len(backend.effects) == 1 + 2 * EVENTS)
    third.wait_until(lambda: not third.events(state="pending"))
    assert set(backend.effects.values()) == {1} and len(backend.requests) == 1 + 2 * EVENTS
    assert stats(third)["paused"] == []


def test_a_gateway_finds_out_by_itself_that_another_one_resumed(join, backend, shared_url):
    working = join("working", tables_for(backend, shared_url))
    call(working, "pause")
    send(working, 0, EVENTS)
    # It knows nothing of the destination, so nothing that it does delivers; but deliveries wait for that name.
    stranger = tables_for(backend, shared_url)
    stranger["destinations"] = {"elsewhere": {"url": backend.url}}
    stranger["sources"]["stripe"]["destinations"] = ["elsewhere"]
    other = join("other", stranger)
    call(other, "resume")
    backend.wait_until(lambda: len(backend.effects) == EVENTS)
    assert set(backend.effects.values()) == {1}


def test_what_is_in_flight_ends_and_its_retry_waits(start, backend):
    gateway = start(tables_for(backend, retry={"first": "50ms", "max": "100ms"}))
    backend.answer_with(lambda request, nth: (call(gateway, "pause"), 500)[1] if nth == 1 else 200)
    send(gateway, 0, 1)
    backend.wait_for(1)
    (event,) = gateway.events()
    attempts = gateway.wait_until(
        lambda: [a for a in gateway.event(event["id"])["deliveries"][0]["attempts"] if a["outcome"] == "failed"])
    assert len(attempts) == 1 and gateway.event(event["id"])["state"] == "pending"
    assert len(backend.requests) == 1
    call(gateway, "resume")
    gateway.wait_for_state(event["id"], "delivered")
    assert len(backend.requests) == 2


def test_a_pause_outlasts_a_kill(start, backend):
    gateway = start(tables_for(backend))
    call(gateway, "pause")
    gateway.kill()
    gateway.start()
    send(gateway, 0, EVENTS)
    assert stats(gateway)["paused"] == ["backend"] and not backend.requests
    (listed,) = gateway.api("GET", "/api/v1/destinations").json()["items"]
    assert listed["paused"] is True and listed["waiting"] == EVENTS
    call(gateway, "resume")
    backend.wait_until(lambda: len(backend.effects) == EVENTS)
    assert gateway.wait_until(lambda: stats(gateway)["deliveries"]["delivered"] == EVENTS)


@pytest.fixture
def run(binary, tmp_path):
    def call_command(gateway, *arguments):
        return subprocess.run([binary, *arguments, "--admin", f"http://{gateway.admin}"], capture_output=True, text=True, timeout=60,
                              check=False, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"}, stdin=subprocess.DEVNULL)
    return call_command


def test_the_commands(start, backend, run):
    gateway = start(tables_for(backend))
    paused = run(gateway, "pause", "backend")
    assert (paused.returncode, paused.stderr) == (0, "") and paused.stdout.startswith("backend is paused")
    assert stats(gateway)["paused"] == ["backend"]
    assert json.loads(run(gateway, "resume", "backend", "--json").stdout) == {"name": "backend", "paused": False}
    gateway.api("POST", "/api/v1/destinations/backend/pause")
    send(gateway, 1, 1)
    for command in ("show", "why"):
        assert "its destination is paused; `hookonce resume backend` goes on" in run(gateway, command, "evt_1").stdout
    gateway.api("POST", "/api/v1/destinations/backend/resume")
    unknown = run(gateway, "pause", "back end")
    assert unknown.returncode == 1 and "back end" in unknown.stderr
    assert run(gateway, "pause").returncode == 2
