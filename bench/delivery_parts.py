"""The parts of `./x bench deliver`: each starts what it measures, measures it and stops it again."""
import contextlib
import json
import shutil
import statistics
import subprocess
import time

import parts
import servers
from load import BenchError, generate, measure, measure_work

FIRST_SECONDS_MAX = 60   # a bound for a broken program: until the first delivery
DRAINED_SECONDS = 5      # for so long the backlog is delivered while memory is read
ARRIVED_SECONDS_MAX = 60
CONCURRENCY = 16         # the destination's default, and the bare loop's


def accepting(args, directory):
    """The gateway at the maximal rate; its deliveries are written and held back."""
    with servers.hookonce(args.binary, directory, name="accepting") as server:
        generate(args.generator, server, args.seconds, events=parts.WARM_UP_EVENTS)
        run = measure(args.generator, server, args.seconds)
    shutil.rmtree(directory / server.name)
    return run


def posting(args, directory):
    """The bare loop of libcurl. Its own CPU time is what counts; nginx is part of what it posts to."""
    with servers.nginx(directory, "posting") as backend:
        def post(seconds=args.seconds):
            done = subprocess.run([args.poster, "--url", f"http://127.0.0.1:{backend.port}/", "--seconds", str(seconds),
                                   "--concurrency", str(CONCURRENCY)], stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise BenchError(f"the bare loop ended with {done.returncode}")
            return json.loads(done.stdout)
        post(1)
        return measure_work(backend, post)


def delivering(args, directory):
    """Under "whole_seconds" and "whole_cpu_seconds": until every accepted event has been delivered and that is recorded."""
    return parts.delivering(args, directory)


def _received(log):
    """Event id -> when its first delivery came, by the wall clock."""
    times = {}
    for line in log.read_text().split("\n"):
        event, _, at = line.partition(" ")
        if at:
            times.setdefault(event, float(at))
    return times


def delays_ms(accepted, received, wall_minus_steady):
    """From the sender's 200 to the backend's receipt, per accepted event; a delivery may overtake the answer. nginx writes its times in
    whole milliseconds, cut, so each delay may be up to one too short."""
    return [max(0.0, (received[event] - wall_minus_steady) * 1000 - steady_us / 1000 + 1) for event, steady_us in accepted]


def quantile(values, share):
    ordered = sorted(values)
    return ordered[int(share * (len(ordered) - 1))]


def delay(args, directory, rate):
    """A run at an even rate; "delay_p50_ms", "delay_p99_ms" and "delay_max_ms" tell how long events took to the backend."""
    answers, log = directory / "accepted", directory / "delay-backend.log"
    with servers.nginx(directory, "delay-backend", logged=True) as backend:
        destination = f'url = "http://127.0.0.1:{backend.port}/"'
        with servers.hookonce(args.binary, directory, destination, "delay") as server:
            generate(args.generator, server, args.seconds, events=parts.WARM_UP_EVENTS)
            servers.await_delivered(server, args.drain_seconds)
            run = measure(args.generator, server, args.seconds, companion=backend.roots[0], rate=rate, accepted_file=answers)
            wall_minus_steady = time.time() - time.monotonic()
            if not servers.await_delivered(server, ARRIVED_SECONDS_MAX):
                raise BenchError(f"deliveries still wait {ARRIVED_SECONDS_MAX} s after the last event")
    accepted = [(event, int(at)) for event, at in (line.split() for line in answers.read_text().splitlines())]
    received = _received(log)
    run["lost"] = sum(event not in received for event, _ in accepted)
    delays = delays_ms([(event, at) for event, at in accepted if event in received], received, wall_minus_steady)
    run["delay_p50_ms"], run["delay_p99_ms"], run["delay_max_ms"] = statistics.median(delays), quantile(delays, 0.99), max(delays)
    shutil.rmtree(directory / "delay")
    for file in (answers, log):
        file.unlink()
    return run


def _first_line(log, begun):
    end = begun + FIRST_SECONDS_MAX
    while time.time() < end:
        with contextlib.suppress(OSError):
            line = log.read_text().partition("\n")[0]
            if " " in line:
                return float(line.split()[1])
        time.sleep(0.005)
    raise BenchError(f"no delivery within {FIRST_SECONDS_MAX} s of the start")


def backlog(args, directory, say):
    """A gateway that starts with many pending deliveries: "first_seconds" from its start to the first delivery, "resident" and "peak" the
    memory in MB after some seconds of delivering, and the most."""
    with servers.hookonce(args.binary, directory, name="backlog") as server:
        parts.fill(args, server, "/in/stripe", args.backlog, say)
    log = directory / "backlog-backend.log"
    with servers.nginx(directory, "backlog-backend", logged=True) as backend:
        destination = f'url = "http://127.0.0.1:{backend.port}/"'
        begun = time.time()
        with servers.hookonce(args.binary, directory, destination, "backlog") as server:
            found = {"ready_seconds": time.time() - begun, "first_seconds": _first_line(log, begun) - begun}
            found["pending"] = _pending(server)
            time.sleep(DRAINED_SECONDS)
            found["resident"], found["peak"] = parts.resident_mb(server), parts.resident_mb(server, "VmHWM")
            found["delivered"] = args.backlog - _pending(server)
    shutil.rmtree(directory / "backlog")
    log.unlink()
    return found


def _pending(server):
    return servers.metric(server, 'hookonce_deliveries{state="pending"}')
