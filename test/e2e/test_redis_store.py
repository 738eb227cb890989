"""A gateway with its inbox in a real Redis: a server that crashes, hangs, is full, is weak, is not the one that it was."""
import pathlib
import signal
import subprocess
import threading
import time

import pytest

from support import senders
from support.gateway import SECRETS, WAIT_SECONDS, Gateway, config, to_toml
from support.http_client import post, request
from support.redis_server import RedisServer, ServerMissing

STRIPE = SECRETS["stripe"]
QUICK = {"retry": {"first": "50ms", "max": "200ms", "attempts": 1000, "give_up": "1h"}}
PASSWORD = "sample-redis-password"


@pytest.fixture
def new_redis():
    """new_redis(settings) starts a server of the test's own; all are stopped at the end."""
    running = []

    def begin(**options):
        try:
            server = RedisServer(**options)
        except ServerMissing as error:
            pytest.skip(str(error))
        running.append(server)
        return server

    yield begin
    for server in running:
        server.close()


@pytest.fixture
def redis(new_redis):
    return new_redis()


def tables(backend, url, **options):
    return config(backend.url, "stripe", store={"url": url}, destination=QUICK, **options)


def send(gateway, event_id, **options):
    return post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, event_id, **options))


def ready(gateway):
    return request(gateway.admin, "GET", "/readyz")


def refused(binary, tmp_path, backend, url):
    """What `serve` says of a store that it does not start on."""
    result = serve(binary, tmp_path, tables(backend, url))
    assert result.returncode == 2, result
    assert result.stdout == ""
    return result.stderr


def serve(binary, directory, settings):
    """Runs `serve` to its end, for configurations that must not start."""
    (directory / "hookonce.toml").write_text(to_toml(settings))
    return subprocess.run([binary, "serve", "--config", "hookonce.toml"], cwd=directory, capture_output=True, text=True, timeout=60, check=False)


class Provider:
    """Sends events and sends each again, as providers do, until it is acknowledged. What is acknowledged twice as accepted is noted."""

    def __init__(self, gateway, name, count):
        self.gateway, self.name, self.count = gateway, name, count
        self.accepted = {}
        self.twice = []
        self.refused = 0
        self.thread = threading.Thread(target=self._run)
        self.thread.start()

    def _run(self):
        for number in range(self.count):
            event_id = f"evt_{self.name}_{number}"
            while True:
                answer = send(self.gateway, event_id)
                if answer.status == 200:
                    break
                assert answer.status == 503 and answer.header("Retry-After"), answer
                self.refused += 1
                threading.Event().wait(0.02)
            self.accepted[event_id] = answer.header("Hookonce-Event")
            again = send(self.gateway, event_id)
            if again.status == 200 and again.header("Hookonce-Status") == "accepted":
                self.twice.append(event_id)


def test_five_crashes_of_the_server_under_load_lose_nothing_and_accept_nothing_twice(start, backend, redis):
    gateway = start(tables(backend, redis.url()))
    process = gateway.process.pid
    providers = [Provider(gateway, name, 150) for name in "abcd"]
    for part in range(1, 6):
        gateway.wait_until(lambda: sum(len(provider.accepted) for provider in providers) >= part * 90)
        redis.restart()
    for provider in providers:
        provider.thread.join()
    gateway.wait_until(lambda: ready(gateway).status == 200)
    acknowledged = {key: event for provider in providers for key, event in provider.accepted.items()}
    assert not [key for provider in providers for key in provider.twice]
    stored = [(event["key"], event["id"]) for event in gateway.all_events()]
    assert len(stored) == len(set(key for key, _ in stored)), "one key has two events"
    assert dict(stored) == acknowledged
    backend.wait_until(lambda: set(acknowledged) <= set(backend.effects))
    gateway.wait_until(lambda: all(event["state"] == "delivered" for event in gateway.all_events()))
    assert gateway.process.pid == process and gateway.process.poll() is None


def test_two_gateways_share_one_inbox(start, binary, tmp_path, backend, redis):
    other_folder = tmp_path / "other"
    other_folder.mkdir()
    gateway = start(tables(backend, redis.url("shared")))
    with Gateway(binary, other_folder, tables(backend, redis.url("shared"))) as other:
        answers = []

        def fire(target, number):
            answers.append((number, send(target, f"evt_{number}").header("Hookonce-Status")))

        threads = [threading.Thread(target=fire, args=((gateway, other)[copy % 2], number)) for number in range(20) for copy in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for number in range(20):
            assert sorted(status for n, status in answers if n == number) == ["accepted"] + ["duplicate"] * 7
        backend.wait_until(lambda: len(backend.effects) == 20)
        other.wait_until(lambda: all(event["state"] == "delivered" for event in other.events()))
        assert set(backend.effects.values()) == {1}


def test_a_gateway_that_is_killed_leaves_its_attempts_to_the_next(start, backend, redis):
    first = threading.Event()
    release = threading.Event()

    def slow(request_, nth):
        if nth == 1:
            first.set()
            release.wait(60)
        return 200

    backend.answer_with(slow)
    gateway = start(config(backend.url, "stripe", store={"url": redis.url()}, destination={"timeout": "1s", "lease": "6s"}))
    event = send(gateway, "evt_inflight").json()["id"]
    assert first.wait(60)
    gateway.kill()
    release.set()
    gateway.start()
    shown = gateway.wait_for_state(event, "delivered")
    assert [(a["number"], a["outcome"]) for a in shown["deliveries"][0]["attempts"]] == [(1, "unknown"), (2, "success")]


def test_a_full_server_answers_503_and_goes_on_where_there_is_room(start, backend, redis):
    gateway = start(tables(backend, redis.url()))
    kept = send(gateway, "evt_before").json()["id"]
    gateway.wait_for_state(kept, "delivered")
    redis.command("CONFIG", "SET", "maxmemory", str(1024 * 1024))
    answer = send(gateway, "evt_full")
    assert (answer.status, answer.code) == (503, "store_unavailable") and answer.header("Retry-After")
    gateway.wait_until(lambda: ready(gateway).status == 503)
    assert "maxmemory" in ready(gateway).json()["error"]["message"]
    assert gateway.event(kept)["state"] == "delivered", "what is there can be looked at meanwhile"
    assert send(gateway, "evt_before").header("Hookonce-Status") == "duplicate", "a duplicate needs no room"
    redis.command("CONFIG", "SET", "maxmemory", "0")
    gateway.wait_until(lambda: ready(gateway).status == 200)
    assert send(gateway, "evt_full").status == 200
    backend.wait_until(lambda: {"evt_before", "evt_full"} <= set(backend.effects))
    assert sorted(event["key"] for event in gateway.events()) == ["evt_before", "evt_full"]


def test_retention_makes_room_on_a_full_server(start, backend, redis):
    gateway = start(config(backend.url, "stripe", store={"url": redis.url(), "retention": "100ms"}, source={"dedup_window": "1s"}))
    redis.command("CONFIG", "SET", "maxmemory", str(int(used_memory(redis) + 2 * 1024 * 1024)))
    body = b'{"id":"evt_%d","type":"x","filler":"' + b"x" * 500_000 + b'"}'
    statuses = [send(gateway, f"evt_{n}", body=body % n).status for n in range(8)]
    assert set(statuses) <= {200, 503}
    gateway.wait_until(lambda: send(gateway, "evt_later", body=body % 1000).status == 200)


def used_memory(server):
    info = server.command("INFO", "memory")
    return int(next(line for line in info.split("\r\n") if line.startswith("used_memory:")).split(":")[1])


def test_a_server_that_hangs_does_not_hang_the_gateway(start, backend, redis):
    gateway = start(tables(backend, redis.url()))
    assert send(gateway, "evt_1").status == 200
    redis.process.send_signal(signal.SIGSTOP)
    try:
        answer = send(gateway, "evt_2")
        assert (answer.status, answer.code) == (503, "store_unavailable")
        gateway.wait_until(lambda: ready(gateway).status == 503)
    finally:
        redis.process.send_signal(signal.SIGCONT)
    gateway.wait_until(lambda: ready(gateway).status == 200)
    assert send(gateway, "evt_2").status == 200
    assert sorted(event["key"] for event in gateway.events()) == ["evt_1", "evt_2"]


def test_a_server_that_became_weak_is_refused_until_it_is_mended(start, backend, redis):
    gateway = start(tables(backend, redis.url()))
    assert send(gateway, "evt_1").status == 200
    redis.settings["appendfsync"] = "everysec"
    redis.restart()
    gateway.wait_until(lambda: ready(gateway).status == 503 and "appendfsync" in ready(gateway).json()["error"]["message"])
    assert send(gateway, "evt_2").status == 503
    redis.command("CONFIG", "SET", "appendfsync", "always")
    gateway.wait_until(lambda: ready(gateway).status == 200)
    assert send(gateway, "evt_2").status == 200


def test_an_inbox_that_is_gone_is_never_replaced_in_silence(start, backend, redis):
    gateway = start(tables(backend, redis.url()))
    assert send(gateway, "evt_1").status == 200
    redis.command("FLUSHALL")
    assert send(gateway, "evt_1").status == 503, "its key would be free again"
    gateway.wait_until(lambda: ready(gateway).status == 503 and "the inbox that was opened is gone" in ready(gateway).json()["error"]["message"])
    lost = f'store.lost reason="redis://127.0.0.1:{redis.port}/0?prefix=hookonce: the inbox that was opened is gone'
    gateway.wait_until(lambda: lost in gateway.log())
    assert redis.command("EXISTS", "hookonce:inbox") == 0 and gateway.process.poll() is None
    gateway.stop()
    gateway.start()  # by a person, who knows
    assert send(gateway, "evt_1").header("Hookonce-Status") == "accepted"


@pytest.mark.parametrize("name, value, mend", [
    ("appendonly", "no", "yes"), ("appendfsync", "everysec", "always"), ("no-appendfsync-on-rewrite", "yes", "no"),
    ("maxmemory-policy", "allkeys-lru", "noeviction")])
def test_a_server_that_would_lose_what_was_acknowledged_is_refused_by_name(binary, tmp_path, backend, new_redis, name, value, mend):
    server = new_redis(settings={name: value})
    said = refused(binary, tmp_path, backend, server.url())
    assert f"{name} is `{value}`; set it to `{mend}`" in said and "durability=relaxed" in said


def test_a_replica_is_refused(binary, tmp_path, backend, new_redis):
    primary = new_redis()
    replica = new_redis(settings={"replicaof": f"127.0.0.1 {primary.port}"})
    for options in ("", "durability=relaxed"):
        assert "replica" in refused(binary, tmp_path, backend, replica.url(options=options))


def test_a_primary_with_replicas_names_what_a_failover_may_lose(start, backend, new_redis):
    primary = new_redis()
    new_redis(settings={"replicaof": f"127.0.0.1 {primary.port}"})
    end = time.monotonic() + WAIT_SECONDS
    while primary.command("ROLE")[2] == []:
        assert time.monotonic() < end, "the replica never came"
        threading.Event().wait(0.02)
    gateway = start(tables(backend, primary.url()))
    assert any("failover" in weakness for weakness in ready(gateway).json()["weaknesses"])


def test_wrong_passwords_are_refused_and_never_shown(binary, tmp_path, backend, new_redis):
    server = new_redis(password=PASSWORD)
    address = f"127.0.0.1:{server.port}"
    for url in (f"redis://{address}", f"redis://:wrong-{PASSWORD}@{address}", f"redis://nobody:wrong-{PASSWORD}@{address}"):
        said = refused(binary, tmp_path, backend, url)
        assert "password" in said and PASSWORD not in said, said


def test_the_right_password_opens_and_is_nowhere_shown(start, backend, new_redis):
    server = new_redis(password=PASSWORD)
    gateway = start(tables(backend, server.url()))
    assert send(gateway, "evt_1").status == 200
    server.kill()
    gateway.wait_until(lambda: ready(gateway).status == 503)
    shown = ready(gateway).body.decode() + gateway.api("GET", "/api/v1/stats").body.decode() + gateway.log()
    assert str(server.port) in shown and PASSWORD not in shown


def test_the_rights_that_the_documentation_names_are_enough(start, backend, redis):
    page = (pathlib.Path(__file__).resolve().parents[2] / "docs/redis.md").read_text(encoding="utf-8")
    line = next(line for line in page.splitlines() if line.startswith("ACL SETUSER hookonce "))
    redis.command(*line.replace("PASSWORD", PASSWORD).split())
    settings = tables(backend, f"redis://hookonce:{PASSWORD}@127.0.0.1:{redis.port}", source={"dedup_window": "1s"})
    settings["store"]["retention"] = "1s"
    backend.answer_with(lambda request, nth: 410 if request.provider_id == "evt_dead" else 200)
    gateway = start(settings)
    assert [send(gateway, "evt_1").header("Hookonce-Status") for _ in range(2)] == ["accepted", "duplicate"]
    dead = send(gateway, "evt_dead").header("Hookonce-Event")
    gateway.wait_for_state(dead, "dead")
    assert gateway.api("POST", f"/api/v1/events/{dead}/replay").status == 202
    assert gateway.api("GET", "/api/v1/stats").status == 200
    redis.command("SCRIPT", "FLUSH")
    gateway.wait_until(lambda: not gateway.events())  # retention takes them, and the keys go with them
    assert send(gateway, "evt_1").header("Hookonce-Status") == "accepted"
    backend.wait_for(4)
    gateway.wait_until(lambda: not gateway.events(state="pending"))
    assert redis.command("ACL", "LOG") == [], "something was asked for that the page does not name"


def test_a_relaxed_server_is_accepted_and_named(start, backend, new_redis):
    server = new_redis(settings={"appendonly": "no"})
    gateway = start(tables(backend, server.url(options="durability=relaxed")))
    assert send(gateway, "evt_1").status == 200
    weaknesses = ready(gateway).json()["weaknesses"]
    assert any("durability=relaxed" in weakness for weakness in weaknesses)
    assert any("appendonly is `no`" in weakness for weakness in weaknesses)
    assert "store.weak" in gateway.log()
    assert gateway.api("GET", "/api/v1/stats").json()["store"]["weaknesses"] == weaknesses
    server.restart()
    gateway.wait_until(lambda: send(gateway, "evt_1").status == 200)
    gateway.wait_until(lambda: "store.emptied" in gateway.log())  # the loss is said aloud, and the gateway goes on


def test_tls_to_redis_is_refused_by_name(binary, tmp_path, backend):
    assert "TLS" in refused(binary, tmp_path, backend, "rediss://127.0.0.1:6379")


def test_nobody_there_is_named_with_the_address(binary, tmp_path, backend):
    result = serve(binary, tmp_path, tables(backend, "redis://127.0.0.1:1"))
    assert result.returncode != 0 and result.stderr.count("redis://127.0.0.1:1/0") == 1, result.stderr


@pytest.mark.parametrize("marker, said", [("99 ab", "is of version 99, this program knows 1; use a newer hookonce"),
                                          ("0 ab", "is of version 0, this program knows 1; use an older hookonce"),
                                          ("\x1b[2J", "is no inbox of hookonce; choose another ?prefix=")])
def test_an_inbox_of_another_version_is_refused_with_the_program_that_takes_it(binary, tmp_path, backend, redis, marker, said):
    redis.command("SET", "other:inbox", marker)
    told = refused(binary, tmp_path, backend, redis.url(prefix="other"))
    assert said in told and told.count("redis://") == 1 and "\x1b" not in told, told


def test_a_search_says_that_it_left_bodies_out(binary, start, backend, redis):
    gateway = start(tables(backend, redis.url()))
    send(gateway, "evt_1")
    found = request(gateway.admin, "GET", "/api/v1/events?q=evt_").json()
    assert len(found["items"]) == 1 and found["bodies_searched"] is False
    for text in ("evt_", "nothing of the kind"):
        told = subprocess.run([binary, "events", "--search", text, "--admin", f"http://{gateway.admin}"], capture_output=True, text=True, timeout=60, check=False)
        assert told.returncode == 0 and told.stdout.endswith("searched id, key and type; bodies are not searched on Redis\n"), told
