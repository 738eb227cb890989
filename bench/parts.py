"""The parts of `./x bench ingest`: each starts what it measures, measures it and stops it again, so that never two servers run.

A part that is repeated returns one run (load.measure); the two long ones, stalls and memory, return what is said there.
"""
import contextlib
import json
import pathlib
import shutil
import subprocess
import sys
import time

import servers
from load import BenchError, generate, measure, stopping
from peers import start

HERE = pathlib.Path(__file__).resolve().parent
WARM_UP_EVENTS = 2000
FILL_SECONDS_MAX = 600
FILL_EVENTS = 50_000  # at a time, so that progress shows
STEADY_RATE = 1000    # requests a second while memory is read
STEADY_SECONDS = 10


def hookonce(args, directory):
    """At the maximal rate, and under "half" at half of that rate, where answer times mean something."""
    with servers.hookonce(args.binary, directory) as server:
        generate(args.generator, server, args.seconds, events=WARM_UP_EVENTS)
        run = measure(args.generator, server, args.seconds)
        run["half"] = measure(args.generator, server, args.seconds, rate=half_rate([run]))
    shutil.rmtree(directory / server.name)
    return run


def watched(args, directory):
    """As hookonce, with one reader of the live stream, as an open dashboard is."""
    with servers.hookonce(args.binary, directory, name="watched") as server:
        reader = subprocess.Popen(["curl", "-sN", f"http://{server.admin}/api/v1/stream"], stdout=subprocess.DEVNULL)
        with stopping(reader):
            generate(args.generator, server, args.seconds, events=WARM_UP_EVENTS)
            run = measure(args.generator, server, args.seconds, companion=reader.pid)
            if reader.poll() is not None:
                raise BenchError("the live stream broke off")
    shutil.rmtree(directory / server.name)
    return run


def half_rate(runs):
    rates = sorted(run["ok"] / run["seconds"] for run in runs)
    return max(1, int(rates[len(rates) // 2] / 2))


def _plain(make):
    def part(args, directory):
        with make(directory) as server:
            generate(args.generator, server, args.seconds, events=WARM_UP_EVENTS)
            return measure(args.generator, server, args.seconds)
    return part


nginx = _plain(servers.nginx)
fastapi = _plain(start.fastapi_redis)
django = _plain(start.django_postgres)
webhook = _plain(start.webhook)


def delivering(args, directory):
    """Under "whole_seconds" and "whole_cpu_seconds": until no delivery waits any more."""
    with servers.nginx(directory, "backend") as backend:
        destination = f'url = "http://127.0.0.1:{backend.port}/"'
        with servers.hookonce(args.binary, directory, destination, "delivering") as server:
            generate(args.generator, server, args.seconds, events=WARM_UP_EVENTS)
            servers.await_delivered(server, args.drain_seconds)
            cpu_before, begun = server.cpu_seconds(), time.monotonic()
            run = measure(args.generator, server, args.seconds, companion=backend.roots[0])
            if not servers.await_delivered(server, args.drain_seconds):
                raise BenchError(f"deliveries still wait {args.drain_seconds} s after the last event")
            run["whole_seconds"] = time.monotonic() - begun
            run["whole_cpu_seconds"] = server.cpu_seconds() - cpu_before
    shutil.rmtree(directory / server.name)
    return run


@contextlib.contextmanager
def _disk_probe(file, found):
    """Runs beside the block; `found` has what it saw once the block is left."""
    process = subprocess.Popen([sys.executable, str(HERE / "disk_probe.py"), str(file)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    try:
        yield process
    finally:
        output, _ = process.communicate()  # its input ends, and so does it
        found.update(json.loads(output or "{}"))


def overlaps(stall, others):
    return any(other["begun"] < stall["ended"] and stall["begun"] < other["ended"] for other in others)


def stalls(args, directory, rate):
    """A run at an even rate; "stalls" are those that the disk's probe beside it does not show, "excused" those that it shows too."""
    probe = {}
    with servers.hookonce(args.binary, directory, name="stalls") as server:
        generate(args.generator, server, args.seconds, events=WARM_UP_EVENTS)
        with _disk_probe(directory / "probe", probe) as process:
            run = measure(args.generator, server, args.stall_seconds, companion=process.pid, rate=rate)
    shutil.rmtree(directory / server.name)
    if not probe.get("rounds"):
        raise BenchError("the disk's probe has seen nothing")
    run["probe"] = probe
    run["excused"] = [stall for stall in run["stalls"] if overlaps(stall, probe["stalls"])]
    run["stalls"] = [stall for stall in run["stalls"] if not overlaps(stall, probe["stalls"])]
    return run


def resident_mb(server, name="VmRSS"):
    """A line of /proc/PID/status; VmRSS is now, VmHWM the most there ever was."""
    lines = pathlib.Path(f"/proc/{server.roots[0]}/status").read_text().split("\n")
    return next(int(line.split()[1]) * 1024 / 1e6 for line in lines if line.startswith(name + ":"))


def fill(args, server, path, count, say):
    """Accepted events through the gateway itself, as many as asked for."""
    server.path = path
    accepted = 0
    while accepted < count:
        part = generate(args.generator, server, FILL_SECONDS_MAX, events=min(FILL_EVENTS, count - accepted), duplicate_every=0)
        if part["accepted"] == 0:
            raise BenchError("the gateway accepts no more events")
        accepted += part["accepted"]
        say(f"{path}: {accepted:,} of {count:,} events")


def memory(args, directory, say):
    """Resident memory in MB: "filled" after all events went through it, "restarted" and "loaded" of a new process on the same inbox,
    "peak" the most that the new one ever had."""
    found = {}
    with servers.hookonce(args.binary, directory, name="memory") as server:
        fill(args, server, "/in/unwanted", args.memory_events - args.memory_pending, say)
        fill(args, server, "/in/stripe", args.memory_pending, say)
        found["filled"] = resident_mb(server)
    begun = time.monotonic()
    with servers.hookonce(args.binary, directory, name="memory") as server:
        found["start_seconds"] = time.monotonic() - begun
        found["restarted"] = resident_mb(server)
        generate(args.generator, server, STEADY_SECONDS, rate=STEADY_RATE)
        found["loaded"] = resident_mb(server)
        found["peak"] = resident_mb(server, "VmHWM")
        found["pending"] = servers.metric(server, 'hookonce_deliveries{state="pending"}')
        found["events"] = servers.metric(server, "hookonce_events")
    shutil.rmtree(directory / server.name)
    return found
