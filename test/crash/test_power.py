"""The power is cut at random moments: what was acknowledged is there, accepted once, and delivered. `kill -9` leaves with the kernel what a
power cut takes.

A gateway's life under load is recorded (power_shim.c): every write to the files of its inbox and every sync, in order. Then the power is
cut at moments of that record. A disk (support/power_disk.py) draws what is left, a gateway starts on it, and the judge of the other crash
tests compares what had been acknowledged by then with what comes of it.
"""
import bisect
import random
import shutil
import time

import pytest

from support.ledger import explain
from support.power_disk import NOTHING_ARRIVED
from support.power_life import acknowledged, new_inbox, outlive, record
from support.power_record import SYNC_BEGINS, TRUNCATE, WRITE

CYCLES_PER_CUT = 2       # of --cycles: a cut takes about as long as two kills
CUTS_PER_LIFE = 5
EVENTS = 500             # of a life, at least
ENTRIES_NEAR = 200       # after the log began anew; the first few dozen are not synced yet
CANARY_CUTS = 3


def any_moment(life):
    return range(len(life.entries) + 1)


def starting(life):
    """A new file is made, or a log that was left is copied and cut to nothing."""
    return [number for number in any_moment(life)[:-1] if life.entries[number].at < life.ready_at]


def stopping(life):
    return [number for number in any_moment(life)[1:] if life.entries[number - 1].at > life.stopped_at]


def just_answered(life):
    """No entry between an acknowledgement and the cut."""
    stamps = [entry.at for entry in life.entries]
    return [bisect.bisect(stamps, line["at"]) for line in life.lines if line["what"] == "acknowledged"]


def syncing(life):
    return [number + 1 for number, entry in enumerate(life.entries) if entry.kind == SYNC_BEGINS]


def checkpointing(life):
    """The database file itself is written by checkpoints alone."""
    return [number + 1 for number, entry in enumerate(life.entries) if (entry.kind, entry.file) == (WRITE, "main")]


def log_begun_anew(life):
    """Its first frames are written over old ones, which must be in the database file by then."""
    near = []
    is_empty = not life.files.get("log")
    for number, entry in enumerate(life.entries):
        if entry.file != "log":
            continue
        if entry.kind == TRUNCATE:
            is_empty = True
        elif entry.kind == WRITE:
            if entry.position == 0 and not is_empty:
                near += range(number + 1, min(number + ENTRIES_NEAR, len(life.entries)))
            is_empty = False
    return near


MOMENTS = [just_answered, log_begun_anew, checkpointing, starting, syncing, stopping, any_moment]


def in_turn(chance):
    while True:
        yield from chance.sample(MOMENTS, len(MOMENTS))


def draw_cuts(life, moments, chance, count):
    """[(entry before which the power is cut, the moment's name)], in order."""
    cuts = []
    while len(cuts) < count:
        moment = next(moments)
        candidates = moment(life)
        if candidates:
            cuts.append((chance.choice(candidates), moment.__name__))
    return sorted(cuts)


def test_a_power_cut_loses_nothing_acknowledged_and_accepts_nothing_twice(binary, tmp_path, seed, pytestconfig):
    wanted = max(pytestconfig.getoption("--cycles") // CYCLES_PER_CUT, 1)
    chance = random.Random(seed)
    moments = in_turn(chance)
    began = time.monotonic()
    done = dict.fromkeys((moment.__name__ for moment in MOMENTS), 0)
    events = lives = 0
    files, past = {}, []
    while sum(done.values()) < wanted:
        # Every other life begins on what a cut of the one before has left.
        lives += 1
        life = record(binary, tmp_path / f"life_{lives}", files, f"{seed} {lives}", events=EVENTS, past=past, first=1 + lives * 10**6)
        cuts = draw_cuts(life, moments, chance, min(CUTS_PER_LIFE, wanted - sum(done.values())))
        files, past = {}, []
        for (cut, moment), (_, disk) in zip(cuts, life.disks([cut for cut, _ in cuts])):
            left = disk.cut(chance)
            before = life.lines_before(cut)
            directory = tmp_path / f"cut_{sum(done.values()) + 1}"
            faults, lines = outlive(binary, directory, left, before, chance)
            assert not faults, f"cut {directory.name} of {lives} lives, before entry {cut}, {moment}:\n" + "\n".join(
                f"{name}: {len(keys)}, such as {keys[:3]}\n{explain(lines, keys)}" for name, keys in faults.items())
            shutil.rmtree(directory)
            done[moment] += 1
            events += acknowledged(before)
            if not life.past:
                files, past = left, before + [{"what": "power cut"}]
        shutil.rmtree(tmp_path / f"life_{lives}")
        print(f"{sum(done.values())} of {wanted} power cuts, {time.monotonic() - began:.0f} s")
    print(f"{wanted} power cuts ({', '.join(f'{count} {name}' for name, count in done.items())}) in {lives} recorded lives: {events} events "
          f"acknowledged before a cut; none lost, none accepted twice, none stuck, no attempt number used twice, no file "
          f"damaged; {time.monotonic() - began:.0f} s")


@pytest.mark.parametrize("swallow, moment", [("log", just_answered), ("main", log_begun_anew)])
def test_the_driver_finds_a_disk_that_lies(binary, tmp_path, seed, swallow, moment):
    """The canary of the test above: syncs of one file are answered with success and not done."""
    chance = random.Random(seed)
    life = record(binary, tmp_path / "life", new_inbox(binary, tmp_path / "new"), seed, events=EVENTS, swallow=swallow)
    cuts = sorted(chance.sample(moment(life)[-ENTRIES_NEAR // 2:], CANARY_CUTS))
    found = []
    for number, (cut, disk) in enumerate(life.disks(cuts)):
        faults, _ = outlive(binary, tmp_path / f"cut_{number}", disk.cut(chance, NOTHING_ARRIVED), life.lines_before(cut), chance)
        found.append(set(faults))
    print(f"a disk that lies about the {swallow}: {found}")
    # Not each cut: what the log has lost may have reached the database file just before.
    assert any("forgotten" in faults for faults in found), found
