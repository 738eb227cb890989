"""Two gateways on one inbox: what several processes, a killed one among them, must not do to an event."""
import json
import os
import random
import signal
import threading
import time

import pytest

from support import senders
from support.gateway import SECRETS, WAIT_SECONDS, config
from support.http_client import Connection, post, request_bytes
from support.postgres_server import PostgresServer, ServerMissing
from support.sdks import faketime_environment
from support.shared_stores import missing

STRIPE = SECRETS["stripe"]
COPIES = 16
EVENTS = 200
QUICK = {"first": "50ms", "max": "200ms", "attempts": 200, "give_up": "1h"}


def tables_for(backend, url, destination=None, source=None):
    return config(backend.url, "stripe", store={"url": url}, source=source, destination={"retry": QUICK, **(destination or {})})


def spray(gateways, messages):
    """Sends all messages at the same moment, in turn over the gateways, each on a connection of its own."""
    connections = [Connection(gateways[index % len(gateways)].ingest) for index in range(len(messages))]
    answers = [None] * len(messages)
    together = threading.Barrier(len(messages))

    def send(index):
        headers, body = messages[index]
        data = request_bytes("POST", "/in/stripe", headers, body)
        together.wait()
        connections[index].send(data)
        answers[index] = connections[index].answer()

    threads = [threading.Thread(target=send, args=(index,)) for index in range(len(messages))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()
    return answers


def test_copies_sprayed_over_two_gateways_are_one_event_each(join, backend, shared_url):
    gateways = [join(name, tables_for(backend, shared_url)) for name in ("a", "b")]
    together = threading.Barrier(COPIES)
    answers = []

    def send_all(sender):
        with Connection(gateways[sender % 2].ingest) as connection:
            for number in range(EVENTS):
                headers, body = senders.stripe(STRIPE, f"evt_{number}")
                together.wait()
                answers.append((number, connection.request("POST", "/in/stripe", headers, body)))

    threads = [threading.Thread(target=send_all, args=(sender,)) for sender in range(COPIES)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(answers) == EVENTS * COPIES
    assert {answer.status for _, answer in answers} == {200}
    verdicts = [answer.header("Hookonce-Status") for _, answer in answers]
    assert (verdicts.count("accepted"), verdicts.count("duplicate")) == (EVENTS, EVENTS * (COPIES - 1))
    assert len({(number, answer.header("Hookonce-Event")) for number, answer in answers}) == EVENTS
    backend.wait_until(lambda: len(backend.effects) == EVENTS)
    gateways[0].wait_until(lambda: not gateways[0].events(state="pending"))
    for gateway in gateways:
        events = list(gateway.all_events())
        assert len(events) == EVENTS
        assert sum(event["duplicates"] for event in events) == EVENTS * (COPIES - 1)
    assert set(backend.effects.values()) == {1} and len(backend.requests) == EVENTS


def test_an_expired_key_that_is_still_there_has_one_new_event(join, backend, shared_url):
    first = join("first", tables_for(backend, shared_url, source={"dedup_window": "1s"}))
    old = post(first.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_again")).header("Hookonce-Event")
    first.stop()
    gateways = [join(name, tables_for(backend, shared_url, source={"dedup_window": "1h"})) for name in ("a", "b")]
    time.sleep(1.1)  # the store's own clock has to pass, which nothing from outside can move
    answers = spray(gateways, [senders.stripe(STRIPE, "evt_again")] * 64)
    assert [answer.status for answer in answers] == [200] * 64
    verdicts = [answer.header("Hookonce-Status") for answer in answers]
    assert sorted(verdicts) == ["accepted"] + ["duplicate"] * 63
    (new,) = {answer.header("Hookonce-Event") for answer in answers}
    assert new != old
    assert {event["id"] for event in gateways[0].events(key="evt_again")} == {old, new}


class HeldBackend:
    """Lets a backend hold the first attempt of every event until it is told to go on."""

    def __init__(self, backend, late_status=200):
        self.release = threading.Event()
        self.changed = threading.Condition()
        self.held = set()
        self.late_status = late_status
        backend.answer_with(self.answer)

    def answer(self, request, nth):
        if nth > 1 or self.release.is_set():
            return 200
        with self.changed:
            self.held.add(request.provider_id)
            self.changed.notify_all()
        self.release.wait(60)
        return self.late_status

    def wait_for(self, count):
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.held) >= count, 60), f"only {len(self.held)} are held"


def send_events(gateway, count):
    with Connection(gateway.ingest) as connection:
        answers = [connection.request("POST", "/in/stripe", *senders.stripe(STRIPE, f"evt_{number}")) for number in range(count)]
    assert {answer.status for answer in answers} == {200}
    return [answer.header("Hookonce-Event") for answer in answers]


# The lease is as short as may be, so that what a dead gateway holds comes back soon.
LEASED = {"timeout": "5s", "lease": "10s", "concurrency": 64}


def test_what_a_killed_gateway_had_in_flight_the_other_delivers(join, backend, shared_url):
    held = HeldBackend(backend)
    victim = join("victim", tables_for(backend, shared_url, LEASED))
    ids = send_events(victim, 50)
    held.wait_for(50)
    other = join("other", tables_for(backend, shared_url, LEASED))
    victim.kill()
    held.release.set()
    for event_id in ids:
        event = other.wait_for_state(event_id, "delivered")
        attempts = event["deliveries"][0]["attempts"]
        assert [(a["number"], a["outcome"]) for a in attempts] == [(1, "unknown"), (2, "success")]
    assert sum(1 for request in backend.requests if request.header("Hookonce-Attempt") == "2") == 50


def test_the_late_outcome_of_a_replaced_attempt_changes_nothing(join, backend, shared_url):
    held = HeldBackend(backend, late_status=500)
    slow = join("slow", tables_for(backend, shared_url, LEASED))
    (event_id,) = send_events(slow, 1)
    held.wait_for(1)
    slow.process.send_signal(signal.SIGSTOP)
    other = join("other", tables_for(backend, shared_url, LEASED))
    delivered = other.wait_for_state(event_id, "delivered")
    assert [a["outcome"] for a in delivered["deliveries"][0]["attempts"]] == ["unknown", "success"]
    held.release.set()
    slow.process.send_signal(signal.SIGCONT)
    # Its outcome is shown once it is back, and that is all.
    after = other.wait_until(lambda: (lambda e: e if e["deliveries"][0]["attempts"][0]["outcome"] != "unknown" else None)(other.event(event_id)))
    assert [(a["number"], a["outcome"]) for a in after["deliveries"][0]["attempts"]] == [(1, "failed"), (2, "success")]
    assert after["state"] == "delivered"
    assert [request.header("Hookonce-Attempt") for request in backend.requests].count("2") == 1 and len(backend.requests) == 2


def test_a_gateway_whose_clock_is_ahead_takes_no_lease_early(join, backend, shared_url):
    held = HeldBackend(backend)
    holder = join("holder", tables_for(backend, shared_url, {"timeout": "50s", "lease": "60s"}))
    (event_id,) = send_events(holder, 1)
    held.wait_for(1)
    ahead = join("ahead", tables_for(backend, shared_url, {"timeout": "50s", "lease": "60s"}), environment=faketime_environment("+10m"))
    holder.process.send_signal(signal.SIGSTOP)
    # A delivery that only the other one can make shows that it has looked for work, again and again.
    for number in range(3):
        headers, body = senders.stripe(STRIPE, f"evt_seen_{number}", at=int(time.time()) + 600)
        held.held.clear()
        answer = post(ahead.ingest, "/in/stripe", (headers, body))
        assert answer.status == 200, answer
        held.wait_for(1)
    assert len(ahead.event(event_id)["deliveries"][0]["attempts"]) == 1
    held.release.set()
    holder.process.send_signal(signal.SIGCONT)
    event = ahead.wait_for_state(event_id, "delivered")
    assert [(a["number"], a["outcome"]) for a in event["deliveries"][0]["attempts"]] == [(1, "success")]


def test_twins_at_gateways_whose_clocks_differ_are_no_certain_resend(join, backend, shared_url):
    tables = config(backend.url, "github", store={"url": shared_url})
    exact, ahead, behind = (join(name, tables, environment=environment) for name, environment in
                            (("exact", None), ("ahead", faketime_environment("+30s")), ("behind", faketime_environment("-2h"))))
    request = senders.github(SECRETS["github"], "guid-1")
    event_id = post(exact.ingest, "/in/github", request).json()["id"]
    for other in (ahead, behind):
        assert post(other.ingest, "/in/github", request).header("Hookonce-Status") == "duplicate"
    _, second, third = exact.event(event_id)["arrivals"]
    assert not second["certain"] and "if the clocks of the gateways that share the inbox agree" in second["reason"], second
    assert not third["certain"] and "dated before the first" in third["reason"], third


def send_until_acknowledged(gateway, event_id, acknowledged):
    """As a provider: the same event again until a 2xx comes."""
    connection = None
    end = time.monotonic() + WAIT_SECONDS
    while True:
        assert time.monotonic() < end, f"{event_id} was never acknowledged"
        try:
            connection = connection or Connection(gateway.ingest)
            answer = connection.request("POST", "/in/stripe", *senders.stripe(STRIPE, event_id))
        except OSError:
            connection = None
            continue
        if answer.status == 200:
            connection.close()
            acknowledged[event_id] = answer.header("Hookonce-Event")
            return
        assert answer.status == 503, answer
        time.sleep(0.05)  # a provider waits, too


@pytest.fixture
def own_postgres():
    """A server that a test may restart."""
    try:
        with PostgresServer() as server:
            yield server
    except ServerMissing as why:
        missing(why)


def test_a_server_that_crashes_under_load_loses_nothing_and_doubles_nothing(join, backend, own_postgres):
    tables = tables_for(backend, own_postgres.url(), {"timeout": "5s", "lease": "10s"})
    gateways = [join(name, tables) for name in ("a", "b")]
    pids = [gateway.process.pid for gateway in gateways]
    acknowledged = {}
    stop = threading.Event()

    def send(sender):
        number = 0
        while not stop.is_set():
            send_until_acknowledged(gateways[sender % 2], f"evt_{sender}_{number}", acknowledged)
            number += 1

    threads = [threading.Thread(target=send, args=(sender,)) for sender in range(8)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        before = len(acknowledged)
        gateways[0].wait_until(lambda before=before: len(acknowledged) >= before + 100)
        own_postgres.restart("immediate")
    before = len(acknowledged)
    gateways[0].wait_until(lambda: len(acknowledged) >= before + 100)
    stop.set()
    for thread in threads:
        thread.join()
    backend.wait_until(lambda: set(acknowledged) <= set(backend.effects))
    listed = {}
    for event in gateways[1].all_events():
        listed.setdefault(event["key"], []).append(event["id"])
    assert {key: ids for key, ids in listed.items() if len(ids) > 1} == {}
    assert {key: listed.get(key) for key in acknowledged} == {key: [event_id] for key, event_id in acknowledged.items()}
    assert [gateway.process.pid for gateway in gateways] == pids and all(g.process.poll() is None for g in gateways)


def test_while_the_server_is_away_the_answer_is_503_in_time(join, backend, own_postgres):
    gateway = join("a", tables_for(backend, own_postgres.url()))
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1")).status == 200
    own_postgres.stop("immediate")
    for number in range(3):
        began = time.monotonic()
        answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_away_{number}"))
        assert (answer.status, answer.code) == (503, "store_unavailable")
        assert answer.header("Retry-After") and time.monotonic() - began < 5
    assert gateway.api("GET", "/readyz").status == 503
    own_postgres.start()
    gateway.wait_until(lambda: gateway.api("GET", "/readyz").status == 200)
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1")).json()["status"] == "duplicate"


def test_a_stopped_server_hangs_nobody(join, backend, own_postgres):
    gateway = join("a", tables_for(backend, own_postgres.url()))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1"))
    gateway.wait_for_state(answer.json()["id"], "delivered")  # so that no transaction is under way
    children = [int(pid) for pid in own_postgres.sql("SELECT pid FROM pg_stat_activity WHERE backend_type = 'client backend' "
                                                     "AND application_name = 'hookonce'").split()]
    for pid in children:
        os.kill(pid, signal.SIGSTOP)
    try:
        answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_2"))
        assert (answer.status, answer.code) == (503, "store_unavailable")
        # New connections are served, so the gateway helps itself.
        gateway.wait_until(lambda: post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_2")).status == 200)
    finally:
        for pid in children:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.parametrize("shared_url", ["postgres"], indirect=True)
def test_a_thousand_events_keep_the_order_of_their_keys_while_a_gateway_is_killed(join, backend, shared_url):
    """Each key's events succeed first in the order of acceptance; the attempts that died with a gateway may be seen twice."""
    seed = int(os.environ.get("HOOKONCE_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed} (HOOKONCE_SEED={seed} repeats it)")
    chance, keys = random.Random(seed), random.Random(f"{seed} keys")
    lock = threading.Lock()
    delivered, repeated = {}, []

    def unreliable(request, _nth):
        event = json.loads(request.body)
        with lock:
            if chance.random() < 0.2:
                return 500
            seen = delivered.setdefault(event["event"]["channel"], [])
            (repeated if event["event_id"] in seen else seen).append(event["event_id"])
        return 200

    backend.answer_with(unreliable)
    tables = config(backend.url, "slack", store={"url": shared_url}, source={"ordering_key": "json:/event/channel"},
                    destination={"ordering": True, "breaker": False, "timeout": "1s", "lease": "6s",
                                 "retry": {"first": "10ms", "factor": 1.0, "max": "10ms", "attempts": 1000}})
    gateways = [join(name, tables) for name in ("a", "b")]
    accepted = {}
    for number in range(1000):
        channel, event = f"C{keys.randrange(50)}", f"Ev{number:04}"
        body = senders.slack_body(event, channel=channel)
        answer = post(gateways[number % len(gateways)].ingest, "/in/slack", senders.slack(SECRETS["slack"], event, body=body))
        assert answer.status == 200, answer
        accepted.setdefault(channel, []).append(event)
        if number == 500:
            gateways.pop().kill()
    backend.wait_until(lambda: sum(map(len, delivered.values())) >= 1000)
    assert delivered == accepted
    assert len(repeated) <= 16, "at most what the killed one had in flight"


def test_two_gateways_keep_the_order_of_a_key(join, backend, shared_url):
    seed = int(os.environ.get("HOOKONCE_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"seed {seed} (HOOKONCE_SEED={seed} repeats it)")
    chance = random.Random(seed)
    delivered = {"C1": [], "C2": [], "C3": []}

    def unreliable(request, _nth):
        if chance.random() < 0.3:
            return 500
        event = json.loads(request.body)
        delivered[event["event"]["channel"]].append(event["event_id"])
        return 200

    backend.answer_with(unreliable)
    tables = config(backend.url, "slack", store={"url": shared_url}, source={"ordering_key": "json:/event/channel"},
                    destination={"ordering": True, "breaker": False, "retry": {**QUICK, "first": "10ms", "max": "10ms", "attempts": 1000}})
    gateways = [join(name, tables) for name in ("a", "b")]
    sent = {channel: [] for channel in delivered}
    for number in range(60):
        channel = f"C{chance.randrange(3) + 1}"
        event = f"Ev{number:04}"
        body = senders.slack_body(event, channel=channel)
        answer = post(gateways[number % 2].ingest, "/in/slack", senders.slack(SECRETS["slack"], event, body=body))
        assert answer.status == 200, answer
        sent[channel].append(event)
    backend.wait_until(lambda: sum(map(len, delivered.values())) >= 60)
    assert delivered == sent


def test_copies_of_a_command_on_two_gateways_get_one_answer_of_one_call(join, backend, shared_url):
    """The backend answers when all copies are known to be waiting; four of them are not where its answer arrives."""
    go = threading.Event()
    shown = [("Content-Type", "application/json")], b'{"text":"deployed"}'
    backend.answer_with(lambda request, nth: go.wait(60) and (200, *shown))
    tables = config(backend.url, "slack", store={"url": shared_url}, source={"mode": "sync", "ack_deadline": "60s"})
    gateways = [join(name, tables) for name in ("a", "b")]
    answers = []

    def copy(number):
        message = senders.slack_command(SECRETS["slack"], "1.1")
        answers.append(post(gateways[number % 2].ingest, "/in/slack", message, timeout=60))

    threads = [threading.Thread(target=copy, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    gateways[0].wait_until(lambda: sum(gateway.metric("hookonce_duplicates_total") for gateway in gateways) == 5)
    go.set()
    for thread in threads:
        thread.join()
    assert {(answer.status, answer.header("Content-Type"), answer.body) for answer in answers} == {
        (200, "application/json", b'{"text":"deployed"}')}
    assert sorted(answer.header("Hookonce-Status") for answer in answers) == ["accepted"] + ["duplicate"] * 5
    assert len(backend.requests) == 1
    again = [post(gateway.ingest, "/in/slack", senders.slack_command(SECRETS["slack"], "1.1")) for gateway in gateways]
    assert {answer.body for answer in again} == {b'{"text":"deployed"}'} and len(backend.requests) == 1
