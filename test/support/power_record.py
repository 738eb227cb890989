"""What a gateway did to the files of its inbox, in the true order: made by a preloaded library (test/crash/power_shim.c), read here.

    recorder = Recorder(directory, inbox)                       # builds the library
    gateway = start(tables, environment=recorder.environment)
    ...
    for entry in recorder.entries(): ...
"""
import pathlib
import struct
import subprocess
from typing import NamedTuple

SHIM = pathlib.Path(__file__).resolve().parent.parent / "crash" / "power_shim.c"

# As in the shim.
HEADER = struct.Struct("=qQIBBxx")
FILES = {1: "main", 2: "log", 3: "journal", 4: "folder"}
NAMES = {"main": "", "log": "-wal", "journal": "-journal"}  # the index (-shm) and the lock do not outlive a power cut

WRITE, TRUNCATE, CREATE, UNLINK, SYNC_BEGINS, SYNC_ENDS = "WTCUBE"


class Entry(NamedTuple):
    at: int         # nanoseconds, as time.monotonic_ns() has them
    kind: str       # one of WRITE, ... above
    file: str       # one of FILES
    position: int   # of a write; the new size of a truncation; the number of a sync
    data: bytes     # of a write


class Recorder:
    def __init__(self, directory, inbox, swallow=None):
        """`swallow` names one of NAMES, whose syncs are then answered with success and not done."""
        library = directory / "power_shim.so"
        subprocess.run(["cc", "-O2", "-U_FORTIFY_SOURCE", "-shared", "-fPIC", "-o", library, SHIM, "-ldl", "-pthread"], check=True)
        self.path = directory / "power_record"
        inbox = inbox.resolve()
        self.environment = {"LD_PRELOAD": str(library), "HOOKONCE_POWER_INBOX": str(inbox), "HOOKONCE_POWER_RECORD": str(self.path)}
        if swallow:
            self.environment["HOOKONCE_POWER_SWALLOW"] = str(inbox) + NAMES[swallow]

    def entries(self):
        data = memoryview(self.path.read_bytes())
        entries = []
        place = 0
        while place < len(data):
            at, position, length, kind, file = HEADER.unpack_from(data, place)
            place += HEADER.size
            entries.append(Entry(at, chr(kind), FILES[file], position, data[place:place + length]))
            place += length
        return entries
