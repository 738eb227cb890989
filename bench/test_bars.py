"""What is judged, and how: the arithmetic of the bars, the judge of stalls and the reading of CPU time."""
import json
import pathlib
import subprocess
import sys

import pytest

import bars
import ingest
import load
import parts
from bars import Bar

HERE = pathlib.Path(__file__).resolve().parent


@pytest.mark.parametrize("bound, side, values, ok", [
    (2.8, "max", [2.7, 2.8, 9.0], True),
    (2.8, "max", [2.7, 2.81, 2.9], False),
    (0.3, "min", [0.1, 0.3, 0.5], True),
    (0.3, "min", [0.1, 0.29, 0.5], False),
])
def test_the_median_is_judged_and_the_bound_itself_passes(bound, side, values, ok):
    row = Bar("a figure", bound=bound, side=side).row(values)
    assert row["ok"] is ok
    assert row["measured"] == values[1]
    assert row["spread"] == [values[0], values[2]]
    assert bars.passed([row]) is ok


def test_what_must_never_happen_is_judged_by_its_worst_repetition():
    row = Bar("events lost", bound=0, worst=True).row([0, 0, 1])
    assert row["ok"] is False and row["measured"] == 1
    assert Bar("rate", bound=5, side="min", worst=True).row([4, 6, 7])["ok"] is False


def test_what_was_not_measured_is_neither_met_nor_missed():
    row = Bar("a figure", bound=1).row([])
    assert (row["ok"], row["measured"], row["spread"]) == (None, None, None)
    assert bars.passed([row])


def test_a_figure_without_a_bound_is_not_judged_nor_one_on_other_terms():
    assert Bar("a figure").row([1.0])["ok"] is None
    assert Bar("a figure", bound=1).row([2.0], judged=False)["ok"] is None


def test_a_ratio_is_that_of_one_repetition():
    assert bars.pairwise([10.0, 30.0], [5.0, 10.0]) == [2.0, 3.0]
    assert bars.pairwise([10.0], []) == []


def test_the_table_names_what_is_missed(capsys):
    bars.print_table([Bar("CPU", "us", 1, 20).row([21.04]), Bar("rate", "/s", 0, 1000, "min").row([12345])])
    text = capsys.readouterr().out
    assert "at most 20.0 us" in text and "21.0 us" in text and "MISSED" in text
    assert "at least 1,000/s" in text and "12,345/s" in text and text.rstrip().endswith("ok")


@pytest.mark.parametrize("begun, ended, shown", [(1.0, 1.2, True), (0.5, 3.0, True), (1.9, 2.5, True), (0.0, 0.9, False), (2.1, 2.2, False)])
def test_a_stall_is_excused_where_the_probe_stood_still_at_the_same_moment(begun, ended, shown):
    assert parts.overlaps({"begun": begun, "ended": ended}, [{"begun": 1.0, "ended": 2.0}]) is shown


def test_cpu_time_holds_that_of_children_running_and_ended():
    burn = "import time\nwhile time.process_time() < 0.2: pass\n"
    program = (f"import subprocess, sys\nsubprocess.run([sys.executable, '-c', {burn!r}])\n"
               f"child = subprocess.Popen([sys.executable, '-c', {burn + 'print(flush=True); input()'!r}], stdin=subprocess.PIPE,"
               f" stdout=subprocess.PIPE)\nchild.stdout.readline()\nprint(flush=True)\ninput()\nchild.communicate(b'\\n')\n")
    with subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        used = load.tree_cpu_seconds(process.pid)
        process.communicate(b"\n")
    assert used >= 0.36  # both children, each counted in ticks of 10 ms


def test_the_probe_ends_with_its_input_and_tells_what_it_saw(tmp_path):
    done = subprocess.run([sys.executable, str(HERE / "disk_probe.py"), str(tmp_path / "block")], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, text=True, timeout=60)
    found = json.loads(done.stdout)
    assert done.returncode == 0
    assert set(found) == {"rounds", "longest_ms", "stalls"}


@pytest.mark.parametrize("run, miscounted", [
    ({"answers": 1000, "ok": 1000, "accepted": 991, "duplicates": 9}, 0),
    ({"answers": 1000, "ok": 1000, "accepted": 992, "duplicates": 8}, 1),   # a duplicate was accepted
    ({"answers": 1000, "ok": 1000, "accepted": 990, "duplicates": 9}, 1),   # a 200 that stands for nothing
])
def test_a_duplicate_that_was_accepted_and_an_event_that_was_lost_are_counted(run, miscounted):
    assert ingest.miscounted(run) == miscounted
