"""What `./x bench lists` judges: its arithmetic, and that the inbox that it fills is what it says."""
import copy
import json
import os
import pathlib
import subprocess

import pytest

import lists
import servers

ROOT = pathlib.Path(__file__).resolve().parent.parent
BINARY = pathlib.Path(os.environ.get("HOOKONCE_BINARY", ROOT / "build/release/hookonce")).resolve()
FILLER = BINARY.parent / "bench" / "hookonce_fill_inbox"


def accepts(p50, **values):
    return {"p50_ms": p50, "p99_ms": 9.0, "other": 0, "broken": 0, "foreign_cores": 0.0, **values}


def found(list_ms=10.0, p50=1.0):
    took = {name: [list_ms] for name in {**lists.LISTS, **lists.SEARCHES}}
    return {"quiet": [accepts(1.0)], "listing": [accepts(p50, lists=took)], "missing": 0, "paging_seconds": 1.0, "fill_seconds": 1.0,
            "rare": {"found": 2, "calls": 3, "longest_ms": 500.0}}


def missed(measured):
    return [row["name"] for row in lists.judged_rows("sqlite", measured) if row["ok"] is False]


def test_p95_is_a_value_that_was_measured():
    assert lists.p95([3.0]) == 3.0
    assert lists.p95(list(range(1, 101))) == 95
    assert lists.p95([2.0, 1.0]) == 2.0


def test_each_kind_of_list_has_its_bar():
    assert missed(found()) == []
    assert len(missed(found(list_ms=101.0))) == len(lists.LISTS)
    assert len(missed(found(list_ms=1001.0))) == len(lists.LISTS) + len(lists.SEARCHES)
    assert len(lists.figure_rows("sqlite", found())) > len(lists.LISTS)


@pytest.mark.parametrize("change", [{"missing": 1}, {"missing": -1}, {"rare": {"found": 1, "calls": 1, "longest_ms": 1.0}},
                                    {"rare": {"found": 2, "calls": 1, "longest_ms": 1001.0}}])
def test_what_is_not_shown_once_or_shown_late_is_missed(change):
    measured = copy.deepcopy(found())
    measured.update(change)
    assert len(missed(measured)) == 1


def test_accepts_that_lists_slow_down_are_missed():
    assert missed(found(p50=1.6)) == ["SQLite: answer time p50 of accepts beside lists, against without"]


def test_a_filled_inbox_serves_and_holds_what_it_says(tmp_path):
    store = f"sqlite:{tmp_path}/inbox.db"
    done = subprocess.run([FILLER, "--store", store, "--events", "20000", "--pending", "4000"], stdout=subprocess.PIPE, check=True)
    assert json.loads(done.stdout)["events"] == 20000
    with servers.hookonce(str(BINARY), tmp_path, store=store) as server:
        admin = lists.Admin(server)
        assert lists.Places(admin, 20000).missing == 0
        assert lists.search_to_the_end(admin, lists.RARE)["found"] == 2
        for template, count in (("state=pending", 4000), ("state=dead", 160), ("type=account.closed", 2), ("source=shop", 4000)):
            seen, cursor = 0, ""
            while cursor is not None:
                page, _ = admin.get(f"events?limit=500&{template}&cursor={cursor}")
                seen, cursor = seen + len(page["items"]), page["next_cursor"]
            assert seen == count, template
