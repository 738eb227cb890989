#!/usr/bin/python3
"""How many events a second the gateway accepts durably, what each costs, and how that compares with nginx.

One generator sends the same signed requests (Stripe events of 1.5 KB, 64 keep-alive connections, 1 % duplicates) in turn to
  hookonce    with a SQLite inbox on this disk, accepting alone: every event is verified, and it and its delivery are durable before
              the answer, but the deliveries wait at a destination that may attempt one an hour
  nginx       `return 200`, one worker: no signature, no parsing, no disk. A bound for any HTTP server, not a peer in kind
  delivering  hookonce with a destination that answers 200 (another nginx), so it delivers while it accepts
CPU time per event is the binding figure; events a second depend on what else the machine does, which stands beside them.

usage: ./x bench ingest [--quick] [--only hookonce,nginx] [--repetitions N] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import sys
import tempfile
import time

import bars
import servers
from bars import Bar, micros_per, pairwise
from load import CONNECTIONS, DUPLICATE_EVERY, FOREIGN_CORES_MAX, BenchError, fdatasync_ms, generate, measure

ROOT = pathlib.Path(__file__).resolve().parent.parent
WARM_UP_EVENTS = 2000
PARTS = ("hookonce", "nginx", "delivering")


def run_hookonce(args, directory):
    with servers.hookonce(args.binary, directory) as server:
        generate(args.generator, server, args.seconds, events=WARM_UP_EVENTS)
        run = measure(args.generator, server, args.seconds)
    shutil.rmtree(directory / server.name)
    return run


def run_nginx(args, directory):
    with servers.nginx(directory) as server:
        generate(args.generator, server, args.seconds, events=WARM_UP_EVENTS)
        return measure(args.generator, server, args.seconds)


def run_delivering(args, directory):
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


RUN = {"hookonce": run_hookonce, "nginx": run_nginx, "delivering": run_delivering}


def expected_duplicates(answers):
    return max(0, answers // DUPLICATE_EVERY - 1)


def miscounted(run):
    """Duplicates that were accepted and events that were lost."""
    return abs(run["duplicates"] - expected_duplicates(run["answers"])) + abs(run["accepted"] + run["duplicates"] - run["ok"])


def rows_of(runs):
    """`runs`: part -> its runs, one per repetition."""
    rate = {part: [run["ok"] / run["seconds"] for run in runs[part]] for part in runs}
    cpu = {part: [micros_per(run["server_cpu_seconds"], run["ok"]) for run in runs[part]] for part in runs}
    ours, delivering = runs["hookonce"], runs["delivering"]
    every = [run for part in runs for run in runs[part]]
    return [
        Bar("CPU per accepted event, against nginx's per request", "times", 2, 2.8).row(pairwise(cpu["hookonce"], cpu["nginx"])),
        Bar("rate against nginx's", "times", 2, 0.3, "min").row(pairwise(rate["hookonce"], rate["nginx"])),
        Bar("answers other than 200", bound=0, worst=True).row([run["other"] + run["broken"] for run in every]),
        Bar("duplicates accepted or events lost", bound=0, worst=True).row([miscounted(run) for run in ours + delivering]),
        Bar("hookonce: CPU per accepted event", "us", 1).row(cpu["hookonce"]),
        Bar("nginx: CPU per request", "us", 1).row(cpu["nginx"]),
        Bar("generator: CPU per request", "us", 1).row([micros_per(run["cpu_seconds"], run["answers"]) for run in ours]),
        Bar("hookonce: accepted", "/s").row(rate["hookonce"]),
        Bar("nginx: answered", "/s").row(rate["nginx"]),
        Bar("hookonce: answer time p50 at the maximal rate", "ms", 2).row([run["p50_ms"] for run in ours]),
        Bar("hookonce: answer time p99 at the maximal rate", "ms", 2).row([run["p99_ms"] for run in ours]),
        Bar("delivering: CPU per event accepted and delivered", "us", 1).row(
            [micros_per(run["whole_cpu_seconds"], run["accepted"]) for run in delivering]),
        Bar("delivering: accepted and delivered", "/s").row([run["accepted"] / run["whole_seconds"] for run in delivering]),
    ]


def describe(run):
    disturbed = f", {run['foreign_cores']:.2f} cores busy with other work" if run["foreign_cores"] > FOREIGN_CORES_MAX else ""
    return (f"  {run['server']:10} {run['ok'] / run['seconds']:>9,.0f}/s  {micros_per(run['server_cpu_seconds'], run['ok']):6.1f} us CPU  "
            f"p50 {run['p50_ms']:.2f} ms  p99 {run['p99_ms']:.2f} ms{disturbed}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 repetitions of 2 s instead of 5 of 5 s")
    parser.add_argument("--only", metavar="PART,...", help=f"measure these alone: {', '.join(PARTS)}")
    parser.add_argument("--repetitions", type=int, metavar="N")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--binary", default=str(ROOT / "build/release/hookonce"))
    parser.add_argument("--generator", default=str(ROOT / "build/release/bench/hookonce_bench"))
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build", help="where the inbox lies: a real disk, not tmpfs")
    args = parser.parse_args()
    args.parts = args.only.split(",") if args.only else list(PARTS)
    unknown = set(args.parts) - set(PARTS)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    args.repetitions = args.repetitions or (3 if args.quick else 5)
    args.seconds, args.drain_seconds = (2, 60) if args.quick else (5, 180)
    return args


def run(args):
    runs = {part: [] for part in PARTS}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=args.dir) as name:
        directory = pathlib.Path(name)
        print(f"bench ingest: {args.repetitions} repetitions of {args.seconds} s, {CONNECTIONS} connections, "
              f"{os.cpu_count()} cores, fdatasync of 4 KB {fdatasync_ms(directory):.2f} ms\n")
        for _ in range(args.repetitions):
            for part in args.parts:
                runs[part].append(RUN[part](args, directory))
                print(describe(runs[part][-1]), flush=True)
    every = [run for part in runs for run in runs[part]]
    disturbed = sum(run["foreign_cores"] > FOREIGN_CORES_MAX for run in every)
    if disturbed:
        print(f"\n  {disturbed} of {len(every)} runs shared the machine with other work: rates are too low and times too "
              f"long then;\n  CPU time per event and the ratio suffer least")
    return rows_of(runs)


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    try:
        rows = run(args)
    except (BenchError, OSError) as error:
        print(f"bench ingest: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    bars.print_table(rows)
    if args.json:
        args.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    return 0 if bars.passed(rows) else 1


if __name__ == "__main__":
    sys.exit(main())
