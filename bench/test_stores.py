"""What `./x bench stores` judges, and whether what the bare client writes is an inbox."""
import os
import pathlib
import subprocess
import time

import pytest

import servers
import stores

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = pathlib.Path(os.environ.get("HOOKONCE_BINARY", ROOT / "build/release/hookonce")).resolve()
CLIENT = BINARY.parent / "bench" / "hookonce_store_client"


def report(**values):
    return {"answers": 1000, "ok": 1000, "accepted": 991, "duplicates": 9, "other": 0, "broken": 0, "cpu_seconds": 0.01, "seconds": 1.0,
            "p50_ms": 2.0, "p99_ms": 5.0, "max_ms": 9.0, **values}


def gateway_run(server_cpu, database_cpu, batch=32.0, **values):
    return {**stores.combined([report(**values)]), "server": "a gateway", "server_cpu_seconds": server_cpu,
            "root_cpu_seconds": [server_cpu - database_cpu, database_cpu], "foreign_cores": 0.0, "batch": batch}


def bare_run(database_cpu, client_cpu, **values):
    return {"server": "bare", "ok": 2000, "accepted": 1000, "seconds": 1.0, "cpu_seconds": client_cpu, "server_cpu_seconds": database_cpu,
            "root_cpu_seconds": [database_cpu], "foreign_cores": 0.0, "batch": 32, **values}


def rows_by_name(rows):
    return {row["name"].split(": ", 1)[1]: row for row in rows}


def test_a_report_of_two_generators_sums_what_happened_and_keeps_the_longest_times():
    run = stores.combined([report(seconds=1.0, p99_ms=5.0), report(seconds=1.5, p99_ms=4.0, other=1)])
    assert (run["ok"], run["accepted"], run["other"], run["cpu_seconds"]) == (2000, 1982, 1, 0.02)
    assert (run["seconds"], run["p99_ms"], len(run["halves"])) == (1.5, 5.0, 2)


def test_the_bare_client_is_charged_for_itself_and_its_database_and_the_difference_is_judged():
    runs = {"one": [gateway_run(0.0991, 0.05)], "bare": [bare_run(0.05, 0.02)], "two": [gateway_run(0.1, 0.05)]}
    row = rows_by_name(stores.judged_rows("postgres", runs))["CPU per event above the bare client's"]
    assert row["measured"] == pytest.approx(30.0)  # 100 us an accepted event against 70
    assert row["ok"] is False
    runs["bare"] = [bare_run(0.055, 0.02)]
    assert rows_by_name(stores.judged_rows("postgres", runs))["CPU per event above the bare client's"]["ok"] is True


@pytest.mark.parametrize("store, bare_rate, ok", [
    ("postgres", 2200, True),
    ("postgres", 2300, False),
    ("redis", 2400, True),
    ("redis", 2600, False),
])
def test_each_store_has_its_own_bar_of_the_rate(store, bare_rate, ok):
    runs = {"one": [gateway_run(0.1, 0.05)], "bare": [bare_run(0.05, 0.02, ok=bare_rate)], "two": []}
    assert rows_by_name(stores.judged_rows(store, runs))["rate against the bare client's"]["ok"] is ok


@pytest.mark.parametrize("seconds, ok", [(1.1, True), (1.2, False)])
def test_two_instances_are_compared_with_one_of_the_same_repetition(seconds, ok):
    runs = {"one": [gateway_run(0.1, 0.05)], "bare": [], "two": [gateway_run(0.1, 0.05, seconds=seconds)]}
    rows = rows_by_name(stores.judged_rows("redis", runs))
    assert rows["rate of two instances against one"]["ok"] is ok
    assert rows["CPU per event above the bare client's"]["ok"] is None  # not measured


def test_an_event_that_one_of_two_gateways_lost_is_not_made_up_for_by_the_other():
    lost, doubled = report(accepted=990), report(accepted=992, duplicates=8)
    run = {**gateway_run(0.1, 0.05), **stores.combined([lost, doubled])}
    rows = rows_by_name(stores.judged_rows("postgres", {"one": [], "bare": [], "two": [run]}))
    assert rows["duplicates accepted or events lost"]["ok"] is False


@pytest.mark.skipif(not CLIENT.exists(), reason="the bare client is not built (HOOKONCE_BENCH)")
@pytest.mark.parametrize("store", stores.STORES)
def test_a_gateway_counts_what_the_bare_client_wrote_as_its_own(store, tmp_path):
    with stores.STORES[store][1]() as database:
        with servers.hookonce(str(BINARY), tmp_path, store=database.inbox_url):
            pass
        subprocess.run([str(CLIENT), *database.client_options, "--batch", "50", "--seconds", "0", "--warm-up", "300"], check=True,
                       stdout=subprocess.DEVNULL, timeout=120)
        with servers.hookonce(str(BINARY), tmp_path, store=database.inbox_url) as gateway:
            end = time.monotonic() + 60
            while not (events := servers.metric(gateway, "hookonce_events")) and time.monotonic() < end:
                time.sleep(0.05)  # it counts about a second after its start
    assert events == 298  # two of 300 repeat an earlier key
