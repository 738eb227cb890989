#!/usr/bin/python3
"""Makes 4 KB durable again and again, a millisecond between, until its input ends; then prints where that stood still, as JSON.

It runs beside a load on the same disk: where both stand still at the same moment, it is the disk's or the machine's doing. A round is
measured from when it was due, so that a probe that gets no processor counts as standing still, just as a request does. The block
is overwritten in place, as a write-ahead log does that has reached its size.

usage: disk_probe.py FILE
"""
import json
import os
import signal
import sys
import threading
import time

EVERY_SECONDS = 0.001
STALL_SECONDS = 0.050  # bench/load_run.h has the same for answers


def probe(path, stopping):
    """(rounds, longest in ms, stalls): a stall's times are those of the monotonic clock, which all processes share."""
    rounds, longest, stalls = 0, 0.0, []
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    block = b"p" * 4096
    os.pwrite(descriptor, block, 0)
    os.fsync(descriptor)
    due = time.monotonic() + EVERY_SECONDS
    while not stopping.wait(max(0.0, due - time.monotonic())):
        os.pwrite(descriptor, block, 0)
        os.fdatasync(descriptor)
        ended = time.monotonic()
        rounds += 1
        longest = max(longest, ended - due)
        if ended - due > STALL_SECONDS:
            stalls.append({"begun": due, "ended": ended})
        due = ended + EVERY_SECONDS
    os.close(descriptor)
    return {"rounds": rounds, "longest_ms": longest * 1000, "stalls": stalls}


def main():
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches all of the terminal's processes; the input ends then as well
    stopping = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), stopping.set()), daemon=True).start()
    print(json.dumps(probe(sys.argv[1], stopping)))


if __name__ == "__main__":
    main()
