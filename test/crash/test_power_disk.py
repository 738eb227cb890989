"""The disk of the power cuts keeps what was synced, and nothing else is certain on it."""
import random

import pytest

from support.power_disk import Disk
from support.power_record import CREATE, SYNC_BEGINS, SYNC_ENDS, TRUNCATE, UNLINK, WRITE, Entry

CUTS = 300  # enough for each outcome that is asked for below, with sectors drawn independently


def write(position, data, file="main"):
    return Entry(0, WRITE, file, position, data)


def truncate(size):
    return Entry(0, TRUNCATE, "main", size, b"")


def sync(number=1, file="main"):
    return [Entry(0, SYNC_BEGINS, file, number, b""), Entry(0, SYNC_ENDS, file, number, b"")]


def create(file):
    return Entry(0, CREATE, file, 0, b"")


def unlink(file):
    return Entry(0, UNLINK, file, 0, b"")


def disk(*entries, content=b"-" * 1024):
    made = Disk({"main": content})
    for entry in entries:
        made.apply(entry)
    return made


def outcomes(made, name="main"):
    chance = random.Random(1)
    return {made.cut(chance).get(name) for _ in range(CUTS)}


def test_what_was_synced_is_there():
    assert outcomes(disk(write(512, b"a" * 1024), *sync())) == {b"-" * 512 + b"a" * 1024}


def test_what_was_not_synced_is_there_or_not_in_any_mix():
    old, new = b"-" * 512, b"a" * 512
    assert outcomes(disk(write(0, new * 2))) == {old + old, old + new, new + old, new + new}


def test_a_sector_may_have_any_content_that_it_has_had():
    found = outcomes(disk(write(0, b"a" * 1024), write(0, b"b" * 1024)))
    assert len(found) == 9 and all(half * 512 in {f[:512] for f in found} & {f[512:] for f in found} for half in (b"-", b"a", b"b"))


def test_a_write_within_a_sector_keeps_what_stands_beside_it():
    assert outcomes(disk(write(10, b"abc"))) == {b"-" * 1024, b"-" * 10 + b"abc" + b"-" * 1011}


def test_a_sync_that_has_not_ended_covers_nothing():
    begun, _ = sync()
    assert outcomes(disk(write(0, b"a" * 512), begun)) == {b"-" * 1024, b"a" * 512 + b"-" * 512}


def test_a_sync_covers_what_was_written_before_it_began_alone():
    begun, ended = sync()
    made = disk(write(0, b"a" * 512), begun, write(512, b"b" * 512), ended)
    assert outcomes(made) == {b"a" * 512 + b"-" * 512, b"a" * 512 + b"b" * 512}


def test_two_syncs_at_once_cover_each_its_own():
    first, first_ends = sync(1)
    second, second_ends = sync(2)
    made = disk(write(0, b"a" * 512), first, write(512, b"b" * 512), second, second_ends, first_ends, content=b"-" * 1024)
    assert outcomes(made) == {b"a" * 512 + b"b" * 512}


def test_a_size_is_any_that_the_file_has_had_since_its_sync():
    assert {len(found) for found in outcomes(disk(write(1024, b"a" * 512), truncate(100), write(100, b"b")))} == {1024, 1536, 100, 101}


def test_what_was_cut_off_does_not_come_back_once_it_was_synced():
    assert outcomes(disk(truncate(0), *sync(), write(512, b"a" * 512), *sync(2))) == {bytes(512) + b"a" * 512}


@pytest.mark.parametrize("synced", (False, True))
def test_a_new_file_is_there_once_its_folder_is_synced(synced):
    made = disk(create("log"), write(0, b"a", "log"), *sync(1, "log"), *(sync(2, "folder") if synced else []))
    assert outcomes(made, "log") == ({b"a"} if synced else {b"a", None})


@pytest.mark.parametrize("synced", (False, True))
def test_a_removed_file_is_gone_once_its_folder_is_synced(synced):
    made = disk(unlink("main"), *(sync(1, "folder") if synced else []))
    assert outcomes(made) == ({None} if synced else {None, b"-" * 1024})


def test_a_file_of_the_same_name_is_another_file():
    made = disk(unlink("main"), create("main"), write(0, b"new"), *sync())
    assert outcomes(made) == {b"-" * 1024, None, b"new"}


def test_the_programs_saw_every_write():
    made = disk(write(0, b"a" * 512), truncate(256), write(300, b"b"))
    assert made.now() == {"main": b"a" * 256 + bytes(44) + b"b"}
