"""Every number of the dashboard's overview is what the load was, what the store holds, and what /metrics says."""
import collections
import json
import os
import re
import sqlite3
import subprocess
import time

import pytest

from support import senders
from support.gateway import SECRETS, Gateway, config
from support.http_client import post
from support.overview_load import ACCEPTED, CAUSES, DEAD, DELIVERED, PENDING, REJECTED, start_loaded
from support.sdks import faketime_environment

STATES = {0: "pending", 1: "in_flight", 2: "delivered", 3: "dead"}


@pytest.fixture
def loaded(start, backend):
    return start_loaded(start, backend)


def api(gateway, path):
    answer = gateway.api("GET", f"/api/v1/{path}")
    assert answer.status == 200, answer
    return answer.json()


def series(gateway):
    """What /metrics shows: {"name{labels}": value}."""
    lines = gateway.api("GET", "/metrics").body.decode().splitlines()
    return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1]) for line in lines if not line.startswith("#")}


def of_store(gateway):
    """Read from the inbox's file itself: accepted and duplicates by source, deliveries by state and by destination."""
    with sqlite3.connect(f"file:{gateway.directory / 'inbox.db'}?mode=ro", uri=True) as inbox:
        rows = inbox.execute("SELECT name, count(*), sum(duplicates) FROM events JOIN sources ON sources.id = events.source GROUP BY name")
        sources = {name.decode(): (accepted, duplicates) for name, accepted, duplicates in rows}
        states = {STATES[state]: count for state, count in inbox.execute("SELECT state, count(*) FROM deliveries GROUP BY state")}
        waiting = {name.decode(): count for name, count in inbox.execute(
            "SELECT name, count(*) FROM deliveries JOIN destinations ON destinations.id = destination WHERE state < 2 GROUP BY name")}
    return sources, states, waiting


def test_the_overviews_numbers_are_the_loads_the_stores_and_the_metrics(loaded):
    stats, sources, destinations = (api(loaded, path) for path in ("stats", "sources", "destinations"))
    history = api(loaded, "history?minutes=60")
    deliveries = api(loaded, "deliveries?limit=500")["items"]
    # Rejected requests are kept beside the work, a moment after their answer.
    rejected = loaded.wait_until(lambda: (lambda items: items if sum(item["count"] for item in items) == sum(REJECTED.values()) else None)(
        api(loaded, "rejected?limit=500")["items"]))
    metrics = series(loaded)
    stored, states, waiting = of_store(loaded)

    for source in sources["items"]:
        name = source["name"]
        assert source["counts"] == stats["sources"][name]
        counts = source["counts"]
        causes = {cause: count for cause, count in counts["causes"].items() if count}
        duplicates = sum(CAUSES[name].values())
        assert causes == CAUSES[name]
        assert (counts["accepted"], counts["duplicates"], counts["rejected"]) == (ACCEPTED[name], duplicates, REJECTED[name])
        assert stored[name] == (ACCEPTED[name], duplicates)
        assert sum(item["count"] for item in rejected if item["source"] == name) == REJECTED[name]
        assert metrics[f'hookonce_accepted_total{{source="{name}"}}'] == ACCEPTED[name]
        for cause, count in counts["causes"].items():
            assert metrics[f'hookonce_duplicates_total{{cause="{cause}",source="{name}"}}'] == count
        assert sum(value for text, value in metrics.items() if text.startswith("hookonce_rejected_total{") and f'source="{name}"' in text) == REJECTED[name]

    assert stats["events"] == sum(ACCEPTED.values()) == metrics["hookonce_events"]
    expected = {"pending": PENDING, "in_flight": 0, "delivered": DELIVERED, "dead": DEAD}
    assert {state: stats["deliveries"][state] for state in expected} == expected
    assert {"in_flight": 0, **states} == expected
    assert {"in_flight": 0, **collections.Counter(item["state"] for item in deliveries)} == expected
    assert {state: metrics[f'hookonce_deliveries{{state="{state}"}}'] for state in ("pending", "in_flight", "dead")} == \
        {state: expected[state] for state in ("pending", "in_flight", "dead")}
    assert metrics["hookonce_dead_total"] == DEAD
    assert stats["paused"] == ["held"]
    for destination in destinations["items"]:
        name = destination["name"]
        assert destination["waiting"] == stats["destinations"][name]["waiting"] == waiting.get(name, 0) == (PENDING if name == "held" else 0)
        assert destination["paused"] == (name == "held") == bool(metrics[f'hookonce_destination_paused{{destination="{name}"}}'])
        assert destination["delivered"] == metrics[f'hookonce_destination_delivered_total{{destination="{name}"}}']
    assert sum(destination["delivered"] for destination in destinations["items"]) == DELIVERED

    points = history["points"]
    def total(name):
        return sum(point[name] for point in points)
    assert total("accepted") == sum(ACCEPTED.values()) and total("rejected") == sum(REJECTED.values())
    assert total("delivered") == DELIVERED and total("dead") == DEAD
    assert total("duplicates") == sum(sum(causes.values()) for causes in CAUSES.values())
    by_cause = sum((collections.Counter(point["causes"]) for point in points), collections.Counter())
    assert by_cause == sum(map(collections.Counter, CAUSES.values()), collections.Counter())
    for name, happened in (("answer_ms", "accepted"), ("delivery_ms", "delivered")):
        measured = [point[name] for point in points if point[happened]]
        assert measured and all(0 < quantiles["p50"] <= quantiles["p99"] for quantiles in measured)
    of_slack = api(loaded, "history?source=slack")["points"]
    assert sum(point["accepted"] for point in of_slack) == ACCEPTED["slack"] and of_slack[0]["delivered"] is None


def test_a_burst_of_rejections_is_an_alarm_that_everybody_sees_once(loaded, binary):
    def alarms():
        return {source["name"]: source["alarm"] for source in api(loaded, "sources")["items"]}
    alarm = loaded.wait_until(lambda: alarms()["stripe"])
    assert (alarm["rejected_last_minute"], alarm["code"]) == (REJECTED["stripe"], "signature_mismatch")
    assert alarms()["github"] is None
    metrics = loaded.wait_until(lambda: (lambda seen: seen if seen['hookonce_source_alarm{source="stripe"}'] == 1 else None)(series(loaded)))
    assert metrics['hookonce_source_alarm{source="github"}'] == 0
    environment = {**os.environ, "HOOKONCE_ADMIN": f"http://{loaded.admin}"}
    status = subprocess.run([binary, "status"], capture_output=True, text=True, timeout=60, check=True, env=environment)
    assert re.search(r"^alarm +stripe: 10 requests rejected in the last minute", status.stdout, re.MULTILINE), status.stdout
    told = subprocess.run([binary, "status", "--json"], capture_output=True, text=True, timeout=60, check=True, env=environment)
    assert json.loads(told.stdout)["sources"][-1]["alarm"]["code"] == "signature_mismatch"
    line = "source.alarm source=stripe rejected_last_minute="
    loaded.wait_until(lambda: line in loaded.log())
    loaded.stop()  # all is written
    assert loaded.log().count(line) == 1


def test_a_wrong_clock_shows(binary, tmp_path, backend):
    """Also where every request is refused for it."""
    tables = config(backend.url, "stripe", "github")
    with Gateway(binary, tmp_path, tables, environment=faketime_environment("+412s")) as gateway:
        for number in range(5):
            assert post(gateway.ingest, "/in/stripe", senders.stripe(SECRETS["stripe"], f"evt_{number}")).status == 401
        assert post(gateway.ingest, "/in/stripe", senders.stripe("whsec_another", "evt_forged", at=int(time.time()) - 9999)).status == 401
        post(gateway.ingest, "/in/github", senders.github(SECRETS["github"], "guid-1"))
        metrics = series(gateway)
        assert 411 <= metrics['hookonce_clock_skew_seconds{source="stripe"}'] <= 414
        assert 'hookonce_clock_skew_seconds{source="github"}' not in metrics
