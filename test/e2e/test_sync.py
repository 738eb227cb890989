"""Synchronous sources: the sender gets the destination's own answer, or an acknowledgement in time and the answer later."""
import gzip
import json
import re
import signal
import subprocess
import threading
import time

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import Connection, post, request_bytes
from support.response_host import ResponseHost

SLACK = SECRETS["slack"]
HOOK = "https://hooks.slack.com/commands/T0001/1/secret"
SHOWN = json.dumps({"response_type": "in_channel", "text": "déployé"}, ensure_ascii=False).encode()
JSON = [("Content-Type", "application/json; charset=utf-8"), ("X-Own", "stays inside")]
PATIENT = {"ack_deadline": "30s"}   # where the test decides when the backend answers, and no deadline may come first


def sync(backend, source=None, **destination):
    retry = {"first": "20ms", "factor": 1.0, "max": "20ms", "attempts": 1000}
    return config(backend.url, "slack", source={"mode": "sync", **(source or {})}, destination={"retry": retry, **destination})


def late(host):
    return {"late_reply": {"to": "response_url", "proxy": host.proxy, "ca_file": str(host.authority)}}


@pytest.fixture
def host(tmp_path):
    folder = tmp_path / "host"
    folder.mkdir()
    with ResponseHost(folder) as running:
        yield running


class Held:
    """A backend's answers that wait until the test lets them go."""

    def __init__(self, backend, answer=(200, JSON, SHOWN)):
        self._go, self.arrived, self._answer = threading.Event(), threading.Semaphore(0), answer
        backend.answer_with(self._policy)

    def _policy(self, _request, _nth):
        self.arrived.release()
        self._go.wait(60)
        return self._answer

    def release(self):
        self._go.set()


def begin(gateway, message):
    """Sends and does not wait for the answer."""
    connection = Connection(gateway.ingest, timeout=60)
    headers, body = message
    connection.send(request_bytes("POST", "/in/slack", headers, body))
    return connection


def command(trigger, **extra):
    return senders.slack_command(SLACK, trigger, **extra)


def attempts(gateway, event_id):
    return gateway.event(event_id)["deliveries"][0]["attempts"]


def test_a_slash_command_is_answered_with_what_the_backend_says(start, backend):
    backend.answer_with(lambda request, nth: (201, JSON, SHOWN))
    gateway = start(sync(backend, PATIENT))
    message = command("1.1")
    headers, body = message
    answer = post(gateway.ingest, "/in/slack", (headers + [("Accept-Encoding", "gzip,deflate")], body))
    assert (answer.status, answer.body) == (201, SHOWN)
    assert answer.header("Content-Type") == "application/json; charset=utf-8" and answer.header("X-Own") is None
    assert answer.header("Hookonce-Status") == "accepted"
    event = answer.header("Hookonce-Event")
    request = backend.requests[0]
    assert request.event == event and request.body == body and request.header("Hookonce-Attempt") == "1"
    assert request.header("Accept-Encoding") is None, "a compressed answer would be passed on without saying so"
    assert gateway.event(event)["state"] == "delivered", "the sender hears of it after it is settled"
    again = post(gateway.ingest, "/in/slack", command("1.1"))
    assert (again.status, again.body, again.header("Hookonce-Status")) == (201, SHOWN, "duplicate")
    assert again.header("Content-Type") == answer.header("Content-Type")
    assert len(backend.requests) == 1
    assert gateway.metric("hookonce_replied_total") == 2


def test_concurrent_copies_get_equal_answers_from_one_call(start, backend):
    held = Held(backend)
    gateway = start(sync(backend, PATIENT))
    senders_ = [begin(gateway, command("1.2")) for _ in range(5)]
    gateway.wait_until(lambda: gateway.metric("hookonce_duplicates_total") == 4)
    held.release()
    answers = [connection.answer() for connection in senders_]
    assert {(answer.status, answer.header("Content-Type"), answer.body) for answer in answers} == {
        (200, "application/json; charset=utf-8", SHOWN)}
    assert sorted(answer.header("Hookonce-Status") for answer in answers) == ["accepted"] + ["duplicate"] * 4
    assert len({answer.header("Hookonce-Event") for answer in answers}) == 1
    assert len(backend.requests) == 1


def test_a_slow_backend_is_acknowledged_in_time_and_its_answer_comes_later(start, backend, host):
    """Slack's deadline is 3 s; the gateway's default of 2 s is what passes here, and what this machine needs beside it."""
    held = Held(backend)
    gateway = start(sync(backend, late(host)))
    began = time.monotonic()
    answer = post(gateway.ingest, "/in/slack", command("1.3", response_url=HOOK))
    took = time.monotonic() - began
    assert (answer.status, answer.body) == (200, b"") and answer.header("Hookonce-Status") == "accepted"
    assert 1.9 < took < 3
    assert host.targets == []
    held.release()
    posted = host.wait_for(1)[0]
    assert (posted.method, posted.target, posted.path) == ("POST", "hooks.slack.com:443", "/commands/T0001/1/secret")
    assert posted.body == SHOWN and posted.header("Content-Type") == "application/json; charset=utf-8"
    gateway.wait_until(lambda: gateway.metric('hookonce_late_replies_total{outcome="success"}') == 1)
    assert gateway.metric("hookonce_acknowledged_total") == 1
    gateway.wait_until(lambda: "late_reply" in gateway.log())
    assert "secret" not in gateway.log(), "the address gives the right to write to a person"
    assert post(gateway.ingest, "/in/slack", command("1.3", response_url=HOOK)).body == SHOWN
    assert len(host.posts) == 1 and len(backend.requests) == 1


def test_an_answer_in_time_is_posted_nowhere(start, backend, host):
    backend.answer_with(lambda request, nth: (200, JSON, SHOWN))
    gateway = start(sync(backend, {**late(host), **PATIENT}))
    assert post(gateway.ingest, "/in/slack", command("1.4", response_url=HOOK)).body == SHOWN
    assert host.targets == [] and gateway.metric("hookonce_late_replies_total") == 0


def test_a_backend_that_fails_is_acknowledged_at_once_and_retried(start, backend, host):
    backend.answer_with(lambda request, nth: (500, [], b"no") if nth <= 2 else (200, JSON, SHOWN))
    gateway = start(sync(backend, {**late(host), **PATIENT}))
    answer = post(gateway.ingest, "/in/slack", command("1.5", response_url=HOOK))
    assert (answer.status, answer.body) == (200, b""), "the sender sees nothing of a 500"
    event = answer.header("Hookonce-Event")
    gateway.wait_for_state(event, "delivered")
    assert [a["status"] for a in attempts(gateway, event)] == [500, 500, 200]
    assert {request.header("Idempotency-Key") for request in backend.requests} == {event}
    assert host.wait_for(1)[0].body == SHOWN
    assert post(gateway.ingest, "/in/slack", command("1.5", response_url=HOOK)).body == SHOWN


@pytest.mark.parametrize("url", ["https://hooks.slack.com.evil.test/x", "http://hooks.slack.com/x", "https://hooks.slack.com@evil.test/x",
                                 "https://evil.test/https://hooks.slack.com/", "https://hooks.slack.com:8443/x",
                                 "https://169.254.169.254/latest", "http://127.0.0.1:9/cb"])
def test_a_late_answer_goes_to_no_other_host(start, backend, host, url):
    backend.answer_with(lambda request, nth: (500, [], b"") if nth == 1 else (200, JSON, SHOWN))
    gateway = start(sync(backend, {**late(host), **PATIENT}))
    answer = post(gateway.ingest, "/in/slack", command("1.6", response_url=url))
    gateway.wait_for_state(answer.header("Hookonce-Event"), "delivered")
    assert post(gateway.ingest, "/in/slack", command("1.6", response_url=url)).body == SHOWN
    gateway.wait_until(lambda: gateway.metric('hookonce_late_replies_total{outcome="unsent"}') == 1)
    gateway.stop()
    log = gateway.log()
    assert host.targets == [] and "late_reply.unsent" in log and "the request names no response_url" in log
    assert url not in log, "the address may give the right to write to a person"


def test_a_late_answer_that_is_no_json_is_kept_and_not_posted(start, backend, host):
    backend.answer_with(lambda request, nth: (500, [], b"") if nth == 1 else (200, [("Content-Type", "text/plain")], b"done"))
    gateway = start(sync(backend, {**late(host), **PATIENT}))
    answer = post(gateway.ingest, "/in/slack", command("1.7", response_url=HOOK))
    gateway.wait_for_state(answer.header("Hookonce-Event"), "delivered")
    gateway.wait_until(lambda: gateway.metric('hookonce_late_replies_total{outcome="unsent"}') == 1)
    assert host.targets == []
    assert post(gateway.ingest, "/in/slack", command("1.7")).body == b"done"


@pytest.mark.parametrize("answer, reason", [
    ((200, JSON, b"x" * (64 * 1024 + 1)), "at most 64KiB"),
    ((200, JSON + [("Content-Encoding", "gzip")], gzip.compress(SHOWN)), "compressed"),
    ((302, [("Location", "http://127.0.0.1:9/")], b""), "redirects are not followed"),
    (None, "connection closed before an answer"),
], ids=["too large", "compressed", "redirect", "closes"])
def test_what_cannot_be_passed_on_is_a_failed_attempt(start, backend, answer, reason):
    backend.answer_with(lambda request, nth: answer if nth == 1 else (200, JSON, SHOWN))
    gateway = start(sync(backend, PATIENT))
    first = post(gateway.ingest, "/in/slack", command("1.8"))
    assert (first.status, first.body) == (200, b"")
    event = first.header("Hookonce-Event")
    gateway.wait_for_state(event, "delivered")
    failed, succeeded = attempts(gateway, event)
    assert failed["outcome"] == "failed" and reason in failed["error"] and succeeded["outcome"] == "success"


def test_the_largest_answer_is_passed_on_whole(start, backend):
    largest = b"x" * (64 * 1024)
    backend.answer_with(lambda request, nth: (200, [("Content-Type", "text/plain")], largest))
    gateway = start(sync(backend, PATIENT))
    assert post(gateway.ingest, "/in/slack", command("1.9")).body == largest
    assert post(gateway.ingest, "/in/slack", command("1.9")).body == largest


def test_the_late_answer_is_what_was_configured(start, backend):
    backend.answer_with(lambda request, nth: 500)
    gateway = start(sync(backend, {**PATIENT, "late_answer": {"content_type": "application/json", "body": "{\"text\":\"wait\"}"}}))
    answer = post(gateway.ingest, "/in/slack", command("1.10"))
    assert (answer.status, answer.header("Content-Type"), answer.body) == (200, "application/json", b'{"text":"wait"}')


def test_who_waits_is_answered_when_the_gateway_drains(start, backend):
    held = Held(backend)
    tables = sync(backend, PATIENT)
    tables["server"]["drain"] = "50ms"
    gateway = start(tables)
    first = begin(gateway, command("1.11"))
    held.arrived.acquire()
    copy = begin(gateway, command("1.11"))
    gateway.wait_until(lambda: gateway.metric("hookonce_duplicates_total") == 1)
    gateway.process.send_signal(signal.SIGTERM)
    for connection in (first, copy):
        answer = connection.answer()
        assert (answer.status, answer.body) == (200, b"")
    event = answer.header("Hookonce-Event")
    assert gateway.process.wait(60) == 0
    gateway.stop()
    held.release()
    gateway.start()
    gateway.wait_for_state(event, "delivered")
    assert post(gateway.ingest, "/in/slack", command("1.11")).body == SHOWN
    assert {request.header("Idempotency-Key") for request in backend.requests} == {event}


def test_a_killed_gateway_sends_again_under_the_same_key_and_the_late_answer_is_posted(start, backend, host):
    held = Held(backend)
    gateway = start(sync(backend, {**late(host), **PATIENT}))
    begin(gateway, command("1.12", response_url=HOOK))
    held.arrived.acquire()
    gateway.kill()
    gateway.start()
    held.arrived.acquire()
    held.release()
    assert host.wait_for(1)[0].body == SHOWN
    first, second = backend.wait_for(2)
    assert first.header("Idempotency-Key") == second.header("Idempotency-Key") == second.event
    assert sorted(request.header("Hookonce-Attempt") for request in (first, second)) == ["1", "2"]
    assert post(gateway.ingest, "/in/slack", command("1.12", response_url=HOOK)).body == SHOWN
    assert len(host.posts) == 1


def test_senders_that_wait_take_nothing_of_concurrency(start, backend):
    held = Held(backend)
    gateway = start(sync(backend, PATIENT, concurrency=1, rate="1/h"))
    waiting = [begin(gateway, command(f"1.13.{number}")) for number in range(8)]
    for _ in waiting:
        held.arrived.acquire()
    held.release()
    assert {connection.answer().body for connection in waiting} == {SHOWN}


def reason(gateway, event):
    """Why the log says that the event's sender was acknowledged; None while it does not."""
    found = re.search(rf' acknowledged\s.*event={event} reason="?([^"\n]*)', gateway.log())
    return found and found.group(1)


def test_the_log_says_at_the_moment_of_the_answer_why_it_is_not_the_backends(start, backend):
    held = Held(backend)
    gateway = start(sync(backend, {"ack_deadline": "300ms"}))
    slow = post(gateway.ingest, "/in/slack", command("2.1")).header("Hookonce-Event")
    gateway.wait_until(lambda: reason(gateway, slow) == "the destination has not answered in time")
    held.release()
    gateway.wait_for_state(slow, "delivered")
    backend.answer_with(lambda request, nth: 500)
    failing = post(gateway.ingest, "/in/slack", command("2.2")).header("Hookonce-Event")
    gateway.wait_until(lambda: reason(gateway, failing) == "the attempt failed: answered 500")
    assert gateway.api("POST", "/api/v1/destinations/backend/pause").status == 200
    paused = post(gateway.ingest, "/in/slack", command("2.3")).header("Hookonce-Event")
    gateway.wait_until(lambda: reason(gateway, paused) == "its destination was paused when the request came")
    assert gateway.log().count(" acknowledged ") == 3 == gateway.metric("hookonce_acknowledged_total")


def test_the_log_names_a_backend_that_cannot_be_reached(start, backend):
    tables = sync(backend, PATIENT)
    tables["destinations"]["backend"]["url"] = "http://127.0.0.1:1/"
    gateway = start(tables)
    event = post(gateway.ingest, "/in/slack", command("2.4")).header("Hookonce-Event")
    gateway.wait_until(lambda: "connection refused" in (reason(gateway, event) or ""))


def test_a_duplicate_of_a_pruned_event_does_not_wait_for_a_reply_that_is_gone(start, backend):
    backend.answer_with(lambda request, nth: (200, JSON, SHOWN))
    gateway = start(sync(backend, {"ack_deadline": "5m", "retention": "1ms", "dedup_window": "1h"}))
    event = post(gateway.ingest, "/in/slack", command("2.5")).header("Hookonce-Event")
    gateway.wait_until(lambda: gateway.api("GET", f"/api/v1/events/{event}").status == 404)
    answer = post(gateway.ingest, "/in/slack", command("2.5"))  # would take five minutes, which is longer than post() waits
    assert (answer.status, answer.body, answer.header("Hookonce-Status"), answer.header("Hookonce-Event")) == (200, b"", "duplicate", event)
    gateway.wait_until(lambda: (reason(gateway, event) or "").startswith("the event has been pruned"))
    assert len(backend.requests) == 1


def test_a_synchronous_source_needs_one_unordered_destination(binary, tmp_path):
    (tmp_path / "hookonce.toml").write_text("""
[sources.slack]
provider = "slack"
secrets = ["s"]
destinations = ["a", "b"]
mode = "sync"
ordering_key = "json:/event/channel"
[sources.stripe]
provider = "stripe"
secrets = ["s"]
destinations = ["b"]
mode = "sync"
late_reply = "response_url"
[destinations.a]
url = "http://127.0.0.1:9/"
[destinations.b]
url = "http://127.0.0.1:9/"
ordering = true
""")
    done = subprocess.run([binary, "check", "--config", "hookonce.toml"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 2
    assert "sources.slack.destinations: a synchronous source has exactly one destination" in done.stderr
    assert "sources.slack.mode: a synchronous source cannot have destination b, which keeps order" in done.stderr
    assert "sources.stripe.late_reply: requests of provider `stripe` name no address" in done.stderr
