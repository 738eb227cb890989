"""What `./x bench deliver` judges: its arithmetic, and that its bare loop posts what it says."""
import argparse
import json
import os
import pathlib
import subprocess

import pytest

import deliver
import delivery_parts
import servers
from load import BenchError

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = pathlib.Path(os.environ.get("HOOKONCE_BINARY", ROOT / "build/release/hookonce")).resolve()
POSTER = BINARY.parent / "bench" / "hookonce_curl_posts"
FULL = argparse.Namespace(backlog=1_000_000, quick=False)


def gateway_run(cpu_seconds, **values):
    return {"answers": 1000, "ok": 1000, "accepted": 991, "duplicates": 9, "other": 0, "broken": 0, "server_cpu_seconds": cpu_seconds,
            "seconds": 1.0, **values}


def runs(whole_cpu=0.0991, **delay):
    return {"accepting": [gateway_run(0.02973)], "posting": [{"ok": 1000, "other": 0, "cpu_seconds": 0.02, "seconds": 1.0}],
            "delivering": [gateway_run(0.0, whole_cpu_seconds=whole_cpu, whole_seconds=2.0)],
            "delay": [gateway_run(0.0, delay_p50_ms=2.0, delay_p99_ms=20.0, **delay)],
            "backlog": [{"first_seconds": 1.0, "peak": 200.0}]}


def verdicts(found):
    return {row["name"]: row["ok"] for row in deliver.judged_rows(FULL, found)}


def test_delivering_is_judged_against_accepting_and_a_bare_post_together():
    assert deliver.against_parts(runs()) == pytest.approx([100 / (30 + 20)])
    assert all(verdicts(runs()).values())
    assert not all(verdicts(runs(whole_cpu=0.0991 * 1.2)).values())
    assert deliver.whole_rate(runs()["delivering"][0]) == 991 / 2


def test_an_event_that_never_reached_the_backend_is_lost():
    assert verdicts(runs(lost=1))["duplicates accepted or events lost"] is False


def test_a_small_backlog_is_not_judged():
    quick = argparse.Namespace(backlog=100_000, quick=True)
    rows = [row for row in deliver.judged_rows(quick, runs()) if "100,000 pending" in row["name"]]
    assert [row["ok"] for row in rows] == [None, None]


def test_a_delay_is_from_the_answer_to_the_receipt_of_the_same_event_on_one_clock():
    accepted = [("a", 5_000_000), ("b", 6_000_000)]          # steady: 5 s and 6 s
    received = {"a": 105.004, "b": 105.9}                    # wall, which is 100 s ahead; b overtook its answer
    assert delivery_parts.delays_ms(accepted, received, 100.0) == pytest.approx([5.0, 0.0])
    assert delivery_parts.quantile([3.0, 1.0, 2.0], 0.99) == 2.0
    assert delivery_parts.quantile([float(n) for n in range(101)], 0.99) == 99.0


def test_the_bare_loop_posts_to_the_backend_and_counts_other_answers(tmp_path):
    try:
        with servers.nginx(tmp_path, "backend", logged=True) as backend:
            done = subprocess.run([POSTER, "--url", f"http://127.0.0.1:{backend.port}/", "--seconds", "1", "--concurrency", "4"],
                                  stdout=subprocess.PIPE, text=True, check=True)
    except BenchError as missing:
        pytest.skip(str(missing))
    report = json.loads(done.stdout)
    assert report["ok"] > 0 and report["other"] == 0 and report["cpu_seconds"] > 0
    assert len((tmp_path / "backend.log").read_text().splitlines()) == report["ok"]
    refused = subprocess.run([POSTER, "--url", f"http://127.0.0.1:{backend.port}/", "--seconds", "0", "--concurrency", "4"],
                             stdout=subprocess.PIPE, text=True, check=True)
    assert json.loads(refused.stdout)["other"] == 4
