"""Shared stores that somebody breaks under a running gateway, or that never were fit: nothing is lost, nothing is made anew in silence,
and one line says what to mend."""
import os
import signal
import socket
import subprocess
import threading
import time

import pytest

from support import senders
from support.gateway import SECRETS, Gateway, config, to_toml
from support.http_client import post, request
from support.postgres_server import PASSWORD, PostgresServer, ServerMissing
from support.redis_server import RedisServer, free_port
from support.redis_server import ServerMissing as RedisMissing
from support.shared_stores import missing

STRIPE = SECRETS["stripe"]
SECONDS_FOR_STATE = 2  # for an answer that asks no store; a bound, never a pace
SECONDS_BEYOND_DRAIN = 5


@pytest.fixture(scope="module")
def postgres():
    try:
        with PostgresServer() as server:
            yield server
    except ServerMissing as why:
        missing(why)


@pytest.fixture
def own_postgres():
    """A server that a test may stop."""
    try:
        with PostgresServer() as server:
            yield server
    except ServerMissing as why:
        missing(why)


@pytest.fixture
def redis():
    try:
        with RedisServer() as server:
            yield server
    except RedisMissing as why:
        missing(why)


def tables(backend, url, **options):
    return config(backend.url, "stripe", store={"url": url}, **options)


def send(gateway, event_id):
    return post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, event_id))


def ready(gateway):
    return gateway.api("GET", "/readyz")


def wait_until_ill(gateway, *words):
    """Until /readyz is 503 and says `words`."""
    gateway.wait_until(lambda: ready(gateway).status == 503 and all(word in ready(gateway).json()["error"]["message"] for word in words))


def wait_until_well(gateway):
    gateway.wait_until(lambda: ready(gateway).status == 200)


def refused(binary, tmp_path, url, *words):
    """`serve` ends with 2, and one line of what it says holds all the words."""
    (tmp_path / "refused.toml").write_text(to_toml(config("http://127.0.0.1:9/", "stripe", store={"url": url})))
    done = subprocess.run([binary, "serve", "--config", "refused.toml"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2, done
    lines = [line for line in done.stderr.splitlines() if all(word in line for word in words)]
    assert len(lines) == 1, done.stderr
    assert PASSWORD not in done.stdout + done.stderr


def new_role(server, name, *statements):
    """A role with a password of the tests, and what `statements` give it. Its name for the URL."""
    server.sql(f"CREATE ROLE {name} LOGIN PASSWORD '{PASSWORD}'")
    for statement in statements:
        server.sql(statement)
    return name


# The tables are of another version

def test_a_gateway_that_runs_while_a_newer_one_changes_the_tables_says_so_and_loses_nothing(start, backend, postgres):
    gateway = start(tables(backend, postgres.url("upgraded")))
    assert send(gateway, "evt_1").status == 200
    backend.wait_for(1)
    # What a newer program's migration may do: the version goes up, and what the older one writes to is another table.
    postgres.sql("UPDATE upgraded.schema_version SET version = 99; ALTER TABLE upgraded.contents RENAME TO newer_contents")
    gateway.wait_until(lambda: send(gateway, "evt_2").status == 503)
    wait_until_ill(gateway, "version 99", "use a newer hookonce")
    assert {request.provider_id for request in backend.requests} == {"evt_1"}


# The inbox is gone

def test_a_dropped_schema_is_not_replaced_in_silence(start, backend, postgres):
    gateway = start(tables(backend, postgres.url("dropped")))
    assert send(gateway, "evt_1").status == 200
    postgres.sql("DROP SCHEMA dropped CASCADE")
    gateway.wait_until(lambda: send(gateway, "evt_2").status == 503)
    wait_until_ill(gateway, "the inbox that was opened is gone", "dropped", "restore", "restart")
    assert send(gateway, "evt_1").status == 503, "its key would be free again"
    assert postgres.sql("SELECT count(*) FROM pg_namespace WHERE nspname = 'dropped'") == "0", "nothing is made"
    gateway.wait_until(lambda: "store.lost" in gateway.log())
    gateway.stop(expected=None)
    gateway.start()  # by a person, who knows
    assert send(gateway, "evt_1").header("Hookonce-Status") == "accepted"


def test_dropped_tables_are_not_made_again(start, backend, postgres):
    gateway = start(tables(backend, postgres.url("emptied")))
    assert send(gateway, "evt_1").status == 200
    postgres.sql("DROP TABLE emptied.schema_version, emptied.dedup, emptied.events")
    wait_until_ill(gateway, "the inbox that was opened is gone")
    assert send(gateway, "evt_1").status == 503
    assert postgres.sql("SELECT count(*) FROM pg_tables WHERE schemaname = 'emptied' AND tablename = 'dedup'") == "0"


def test_one_dropped_table_is_named(start, backend, postgres):
    gateway = start(tables(backend, postgres.url("one_table")))
    assert send(gateway, "evt_1").status == 200
    postgres.sql("DROP TABLE one_table.contents")
    gateway.wait_until(lambda: send(gateway, "evt_2").status == 503)
    wait_until_ill(gateway, "missing: contents", "restore the schema one_table from a backup")


def test_another_inbox_in_the_place_of_the_one_that_was_opened_gets_nothing(binary, tmp_path, start, backend, postgres):
    gateway = start(tables(backend, postgres.url("exchanged")))
    assert send(gateway, "evt_1").status == 200
    postgres.sql("CREATE SCHEMA kept; DROP SCHEMA kept; ALTER SCHEMA exchanged RENAME TO kept")
    folder = tmp_path / "other"
    folder.mkdir()
    with Gateway(binary, folder, tables(backend, postgres.url("exchanged"))) as other:
        # As if nobody had noticed: the tables are there, and empty.
        wait_until_ill(gateway, "another one stands in its place")
        assert send(gateway, "evt_1").status == 503
        assert list(other.all_events()) == []
    postgres.sql("DROP SCHEMA exchanged CASCADE; ALTER SCHEMA kept RENAME TO exchanged")
    wait_until_well(gateway)
    assert send(gateway, "evt_1").header("Hookonce-Status") == "duplicate", "what was restored serves as before"


# Rights, connections

def test_a_revoked_right_is_named_and_given_back_without_a_restart(start, backend, postgres):
    owner = new_role(postgres, "revoked", "CREATE SCHEMA revoked AUTHORIZATION revoked")
    gateway = start(tables(backend, postgres.url("revoked", user=owner)))
    assert send(gateway, "evt_1").status == 200
    postgres.sql("REVOKE INSERT ON revoked.events FROM revoked")
    gateway.wait_until(lambda: send(gateway, "evt_2").status == 503)
    wait_until_ill(gateway, "INSERT on events", "GRANT")
    for _ in range(3):  # it stays so, however often it tries to recover
        assert send(gateway, "evt_2").status == 503 and ready(gateway).status == 503
    assert send(gateway, "evt_1").header("Hookonce-Status") == "duplicate"
    postgres.sql("GRANT INSERT ON revoked.events TO revoked")
    wait_until_well(gateway)
    assert send(gateway, "evt_2").status == 200


def test_a_user_without_usage_of_the_schema_is_told_the_right(binary, tmp_path, start, backend, postgres):
    start(tables(backend, postgres.url("foreign_one"))).stop()
    reader = new_role(postgres, "no_usage")
    refused(binary, tmp_path, postgres.url("foreign_one", user=reader), "no right to", "GRANT USAGE ON SCHEMA foreign_one")
    postgres.sql("GRANT USAGE ON SCHEMA foreign_one TO no_usage; GRANT SELECT ON ALL TABLES IN SCHEMA foreign_one TO no_usage")
    refused(binary, tmp_path, postgres.url("foreign_one", user=reader), "no right to", "INSERT on events")
    postgres.sql("GRANT INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA foreign_one TO no_usage; "
                 "GRANT ALL ON ALL SEQUENCES IN SCHEMA foreign_one TO no_usage")
    gateway = start(tables(backend, postgres.url("foreign_one", user=reader)))
    assert send(gateway, "evt_1").status == 200, "the rights that the message names are enough"


def test_a_role_with_too_few_connections_is_refused_with_the_mend(binary, tmp_path, postgres):
    owner = new_role(postgres, "few", "ALTER ROLE few CONNECTION LIMIT 2", "CREATE SCHEMA few AUTHORIZATION few")
    refused(binary, tmp_path, postgres.url("few", user=owner), "too many connections for role", "CONNECTION LIMIT")


def test_three_connections_serve(start, backend, postgres):
    owner = new_role(postgres, "three", "ALTER ROLE three CONNECTION LIMIT 3", "CREATE SCHEMA three AUTHORIZATION three")
    gateway = start(tables(backend, postgres.url("three", user=owner)))
    answers = []

    def fire(number):
        answers.append(send(gateway, f"evt_{number}").status)
        answers.append(gateway.api("GET", "/api/v1/stats").status)

    threads = [threading.Thread(target=fire, args=(number,)) for number in range(32)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert set(answers) == {200}
    backend.wait_until(lambda: len(backend.effects) == 32)
    assert ready(gateway).status == 200 and "too many connections" not in gateway.log()


# Servers that hang

class Hanging:
    """Stops a server and all that it has started, as a machine that swaps or a disk that does not answer would."""

    def __init__(self, server):
        listed = subprocess.run(["ps", "-o", "pid=", "--ppid", str(server.process.pid)], capture_output=True, text=True, check=False)
        self.pids = [server.process.pid] + [int(pid) for pid in listed.stdout.split()]

    def __enter__(self):
        for pid in self.pids:
            os.kill(pid, signal.SIGSTOP)

    def __exit__(self, *_):
        for pid in self.pids:
            os.kill(pid, signal.SIGCONT)


@pytest.fixture(params=["postgres", "redis"])
def hanging_store(request):
    return request.getfixturevalue({"postgres": "own_postgres", "redis": "redis"}[request.param])


def test_health_is_told_while_the_store_hangs(hanging_store, start, backend):
    gateway = start(tables(backend, hanging_store.url()))
    event = send(gateway, "evt_1").json()["id"]
    gateway.wait_for_state(event, "delivered")
    with Hanging(hanging_store):
        threads = [threading.Thread(target=gateway.api, args=("GET", path)) for path in ("/api/v1/events", "/api/v1/stats", "/metrics")]
        for thread in threads:
            thread.start()
        for _ in range(3):
            for path, statuses in (("/healthz", {200}), ("/readyz", {200, 503}), ("/metrics", {200})):
                began = time.monotonic()
                assert request(gateway.admin, "GET", path).status in statuses
                assert time.monotonic() - began < SECONDS_FOR_STATE, path
        assert send(gateway, "evt_2").status == 503
        gateway.wait_until(lambda: ready(gateway).status == 503)
    for thread in threads:
        thread.join()
    wait_until_well(gateway)
    assert send(gateway, "evt_2").status == 200


def ask_in_vain(gateway, path):
    try:
        gateway.api("GET", path)
    except OSError:
        pass  # it ended meanwhile


@pytest.mark.parametrize("drain", [1, 3])
def test_a_drain_ends_in_time_while_the_store_hangs(hanging_store, start, backend, drain):
    reached, release = threading.Event(), threading.Event()

    def slow(_request, _nth):
        reached.set()
        release.wait(60)
        return 200

    backend.answer_with(slow)
    gateway = start(tables(backend, hanging_store.url(), server={"drain": f"{drain}s"}))
    assert send(gateway, "evt_1").status == 200
    assert reached.wait(60)
    with Hanging(hanging_store):
        reader = threading.Thread(target=ask_in_vain, args=(gateway, "/api/v1/events"))
        reader.start()
        release.set()  # its outcome cannot be written
        began = time.monotonic()
        gateway.process.send_signal(signal.SIGTERM)
        gateway.process.wait(60)
        assert time.monotonic() - began < drain + SECONDS_BEYOND_DRAIN
    reader.join()
    gateway.stop(expected=None)
    gateway.start()  # nothing was lost
    assert send(gateway, "evt_1").header("Hookonce-Status") == "duplicate"
    gateway.process.kill()


# Servers that are not fit

@pytest.mark.parametrize("url", ["host=127.0.0.1 user=hookonce password=sample-password", "postgres://h/password=sample-password",
                                 "redis://user:12?sample-password@h", "mysql://u:sample-password@h/d", "u:sample-password@h",
                                 "sqlite://u:sample-password@h/d", "env:postgres://u:sample-password@h/d"])
@pytest.mark.parametrize("command", ["check", "serve", "copy"])
def test_no_form_of_a_url_shows_its_password(binary, tmp_path, url, command):
    (tmp_path / "hookonce.toml").write_text(to_toml(config("http://127.0.0.1:9/", "stripe", store={"url": url})))
    arguments = ["store", "copy", "--from", url, "--to", "sqlite:other.db"] if command == "copy" else [command, "--config", "hookonce.toml"]
    done = subprocess.run([binary, *arguments], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (1, 2) and "write" in done.stderr or "use" in done.stderr, done
    assert PASSWORD not in done.stdout + done.stderr


class OlderServer(threading.Thread):
    """In front of a real server, and says that it is an older one: the version is what a server tells at each connection."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.server = server
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.socket.getsockname()[1]
        self.start()

    def run(self):
        while True:
            try:
                client, _ = self.socket.accept()
            except OSError:
                return
            behind = socket.create_connection(("127.0.0.1", self.server.port))
            threading.Thread(target=self.pump, args=(client, behind, False), daemon=True).start()
            threading.Thread(target=self.pump, args=(behind, client, True), daemon=True).start()

    @staticmethod
    def pump(source, target, rewrite):
        try:
            while data := source.recv(65536):
                mark = b"server_version\0"
                if rewrite and mark in data:
                    at = data.index(mark) + len(mark)
                    data = data[:at] + b"12" + data[at + 2:]
                target.sendall(data)
        except OSError:
            pass
        target.close()

    def close(self):
        self.socket.close()


def test_a_server_that_is_too_old_is_refused(binary, tmp_path, postgres):
    older = OlderServer(postgres)
    try:
        refused(binary, tmp_path, postgres.url("older").replace(f":{postgres.port}/", f":{older.port}/"), "version 12", "13 or newer")
    finally:
        older.close()


def test_a_redis_cluster_is_refused(binary, tmp_path):
    try:
        with RedisServer(settings={"cluster-enabled": "yes", "cluster-port": free_port()}) as server:
            refused(binary, tmp_path, server.url(), "Redis Cluster", "a server of its own")
    except RedisMissing as why:
        missing(why)


def test_a_prefix_that_holds_something_else_is_refused(binary, tmp_path, redis):
    redis.command("LPUSH", "hookonce:inbox", "theirs")
    refused(binary, tmp_path, redis.url(), "choose another ?prefix=")
    redis.command("SET", "other:inbox", "theirs")
    refused(binary, tmp_path, redis.url("other"), "choose another ?prefix=")


def test_a_full_redis_is_refused_for_a_new_inbox_and_serves_one_that_is_there(redis, binary, tmp_path, start, backend):
    gateway = start(tables(backend, redis.url()))
    assert send(gateway, "evt_1").status == 200
    gateway.stop()
    redis.command("CONFIG", "SET", "maxmemory", str(1024 * 1024))
    refused(binary, tmp_path, redis.url("another"), "memory is full", "maxmemory")
    gateway.start()
    assert send(gateway, "evt_1").header("Hookonce-Status") == "duplicate"
    assert send(gateway, "evt_2").status == 503
    redis.command("CONFIG", "SET", "maxmemory", "0")
    gateway.wait_until(lambda: send(gateway, "evt_2").status == 200)
