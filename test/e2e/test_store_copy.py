"""`hookonce store copy`: an inbox moves between stores and stays the same."""
import json
import os
import signal
import sqlite3
import subprocess

import pytest

from support import senders
from support.gateway import SECRETS, config, to_toml
from support.http_client import post
from support.shared_stores import SCHEMES, PostgresStores, RedisStores, empty_inbox

STRIPE = SECRETS["stripe"]
COUNTS = {"events": 20, "arrivals": 21, "deliveries": 20, "attempts": 20, "keys": 20}  # of what `filled` makes


@pytest.fixture
def copy(binary, tmp_path):
    def call(source, target, *arguments, **environment):
        return subprocess.run([binary, "store", "copy", "--from", source, "--to", target, *arguments], capture_output=True, text=True, timeout=120,
                              check=False, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1", **environment}, stdin=subprocess.DEVNULL)
    return call


@pytest.fixture(scope="module")
def stores():
    postgres, redis = PostgresStores(), RedisStores()
    yield {"postgres": postgres, "pgbouncer": postgres, "redis": redis}
    postgres.close()
    redis.close()


@pytest.fixture
def filled(start, backend):
    """An inbox.db of a gateway that has stopped: 20 events, one of them with a duplicate."""
    gateway = start(config(backend.url, "stripe"))
    for number in range(20):
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_copy_{number}"))
    post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_copy_3"))
    for event in gateway.events():
        gateway.wait_for_state(event["id"], "delivered")
    events = [gateway.event(event["id"]) for event in gateway.events()]
    gateway.stop()
    return events


def test_a_gateway_goes_on_with_the_copy_as_with_the_original(copy, filled, start, backend):
    result = copy("sqlite:inbox.db", "sqlite:copy.db")
    assert result.returncode == 0, result
    assert "copied 20 of 20" in result.stdout and "the same on both sides" in result.stdout
    gateway = start(config(backend.url, "stripe", store={"url": "sqlite:copy.db"}))
    assert [gateway.event(event["id"]) for event in gateway.events()] == filled
    response = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_copy_7"))
    assert response.json()["status"] == "duplicate"


def test_there_and_back_the_hash_is_the_same(copy, filled):
    results = [copy(source, target, "--json") for source, target in
               (("sqlite:inbox.db", "sqlite:one.db"), ("sqlite:one.db", "sqlite:two.db"))]
    assert all(result.returncode == 0 for result in results), results
    reports = [json.loads(result.stdout) for result in results]
    assert all(report["equal"] and report["from"] == report["to"] for report in reports)
    assert reports[0]["to"] == reports[1]["to"]
    assert {name: reports[0]["to"][name] for name in COUNTS} == COUNTS


def test_a_url_may_come_from_the_environment(copy, filled):
    result = copy("env:OLD_STORE", "sqlite:copy.db", OLD_STORE="sqlite:inbox.db")
    assert result.returncode == 0, result


def test_a_target_with_an_inbox_is_refused(copy, filled):
    assert copy("sqlite:inbox.db", "sqlite:copy.db").returncode == 0
    again = copy("sqlite:inbox.db", "sqlite:copy.db")
    assert again.returncode == 2 and "not empty" in again.stderr, again


@pytest.mark.parametrize("scheme", SCHEMES)
def test_through_a_shared_store_and_back_the_hash_is_the_same(copy, filled, start, backend, stores, scheme):
    url = empty_inbox(stores, scheme)
    results = [copy(source, target, "--json", MIDDLE=url) for source, target in (("sqlite:inbox.db", "env:MIDDLE"), ("env:MIDDLE", "sqlite:back.db"))]
    assert all(result.returncode == 0 for result in results), results
    reports = [json.loads(result.stdout) for result in results]
    assert all(report["equal"] and report["from"] == report["to"] for report in reports)
    assert reports[0]["to"] == reports[1]["to"]
    assert {name: reports[1]["to"][name] for name in COUNTS} == COUNTS
    for store in (url, "sqlite:back.db"):
        gateway = start(config(backend.url, "stripe", store={"url": store}))
        assert [gateway.event(event["id"]) for event in gateway.events()] == filled
        response = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_copy_7"))
        assert response.json()["status"] == "duplicate"
        gateway.stop()


@pytest.mark.parametrize("scheme", ["postgres", "redis"])
def test_a_shared_inbox_that_is_not_there_is_refused_and_not_made(copy, stores, tmp_path, scheme):
    url = empty_inbox(stores, scheme)
    for _ in range(2):
        result = copy(url, "sqlite:copy.db")
        assert result.returncode == 2 and "no inbox" in result.stderr and not (tmp_path / "copy.db").exists(), result


@pytest.mark.parametrize("source, target, reason", [("sqlite:absent.db", "sqlite:copy.db", "absent.db"), ("memory:", "sqlite:copy.db", "memory:"),
                                                    ("sqlite:inbox.db", "memory:", "memory:"), ("sqlite:inbox.db", "sqlite:inbox.db", "both sides"),
                                                    ("mysql://x", "sqlite:copy.db", "mysql")])
def test_what_cannot_be_copied_is_refused_by_name(copy, filled, tmp_path, source, target, reason):
    result = copy(source, target)
    assert result.returncode == 2 and reason in result.stderr, result
    assert not (tmp_path / "copy.db").exists() and not (tmp_path / "absent.db").exists()


def test_the_store_of_a_running_gateway_is_refused(copy, start, backend):
    start(config(backend.url, "stripe", store={"url": "sqlite:other.db"})).stop()
    start(config(backend.url, "stripe"))
    for source, target in (("sqlite:inbox.db", "sqlite:copy.db"), ("sqlite:other.db", "sqlite:inbox.db")):
        result = copy(source, target)
        assert result.returncode == 2 and "inbox.db" in result.stderr, result


def multiply(path):
    """Many more events than one page, made from those that are there."""
    database = sqlite3.connect(path)
    columns = [row[1] for row in database.execute("PRAGMA table_info(events)")]
    values = ["seq + 20 * n" if name == "seq" else "randomblob(16)" if name == "id" else name for name in columns]
    database.execute(f"WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 1500) "
                     f"INSERT INTO events SELECT {', '.join(values)} FROM events, more")
    database.execute("WITH RECURSIVE more(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM more WHERE n < 1500) "
                     "INSERT INTO contents (seq, headers, body) SELECT seq + 20 * n, headers, body FROM contents, more")
    database.commit()
    database.close()
    return 20 + 20 * 1500


@pytest.mark.parametrize("scheme", ["sqlite", "postgres", "redis"])
def test_stopped_in_the_middle_it_goes_on_and_no_gateway_serves_the_half(binary, copy, filled, backend, stores, tmp_path, scheme):
    events = multiply(tmp_path / "inbox.db")
    url = "sqlite:copy.db" if scheme == "sqlite" else empty_inbox(stores, scheme)
    command = [binary, "store", "copy", "--from", "sqlite:inbox.db", "--to", url]
    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 1 and "goes on from here" in errors, (output, errors)
    (tmp_path / "half.toml").write_text(to_toml(config(backend.url, "stripe", store={"url": url})))
    served = subprocess.run([binary, "serve", "--config", "half.toml"], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert served.returncode == 2 and "not finished" in served.stderr, served

    process = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.readline()
    process.kill()
    process.communicate(timeout=60)
    result = copy("sqlite:inbox.db", url, "--json")
    assert result.returncode == 0, result
    report = json.loads(result.stdout)
    assert report["equal"] and report["resumed_at"] > 0 and report["to"]["events"] == events


def test_from_sqlite_to_postgresql_to_redis_and_back_with_a_kill_on_each_way(binary, copy, filled, start, backend, stores, tmp_path):
    events = multiply(tmp_path / "inbox.db")
    postgres, redis = empty_inbox(stores, "postgres"), empty_inbox(stores, "redis")
    reports = []
    for source, target in (("sqlite:inbox.db", postgres), (postgres, redis), (redis, "sqlite:back.db")):
        killed = subprocess.Popen([binary, "store", "copy", "--from", source, "--to", target], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
        # The first line comes with the first page, the second one some pages behind it.
        killed.stdout.readline()
        killed.stdout.readline()
        killed.kill()
        killed.communicate(timeout=60)
        result = copy(source, target, "--json")
        assert result.returncode == 0, result
        reports.append(json.loads(result.stdout))
    assert all(0 < report["resumed_at"] < events and report["equal"] for report in reports), reports
    assert all(report["from"] == report["to"] == reports[0]["to"] for report in reports), reports
    assert reports[2]["to"]["events"] == events
    gateway = start(config(backend.url, "stripe", store={"url": "sqlite:back.db"}))
    for event in filled:
        assert gateway.event(event["id"]) == event
    gateway.stop()


def test_a_gateway_on_the_target_in_redis_waits_until_the_copy_is_whole(binary, copy, filled, start, backend, stores, tmp_path):
    events = multiply(tmp_path / "inbox.db")
    url = empty_inbox(stores, "redis")
    gateway = start(config(backend.url, "stripe", store={"url": url}))
    killed = subprocess.Popen([binary, "store", "copy", "--from", "sqlite:inbox.db", "--to", url], cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    killed.stdout.readline()
    killed.kill()
    killed.communicate(timeout=60)
    response = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_meanwhile"))
    assert response.status == 503, response
    result = copy("sqlite:inbox.db", url, "--json")
    assert result.returncode == 0 and json.loads(result.stdout)["to"]["events"] == events, result
    gateway.wait_until(lambda: post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_meanwhile")).status == 200)
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_copy_7")).json()["status"] == "duplicate"
