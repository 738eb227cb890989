#!/usr/bin/python3
"""How many events a second the gateway accepts durably, what each costs, and how that compares with what one would run otherwise.

One generator sends the same signed requests (Stripe events of 1.5 KB, 64 keep-alive connections, 1 % duplicates). These parts take
turns, one after the other and never two at once, in every repetition:
  hookonce    a SQLite inbox on this disk, accepting alone: every event is verified, and it and its delivery are durable before the
              answer, but the deliveries wait at a destination that may attempt one an hour. In its figure are all threads: HTTP,
              verification, commits, checkpoints, log, and the dispatcher that finds nothing it may start; no attempt and no
              settling is. Then the same at half of that rate
  watched     hookonce accepting, with one reader of its live stream, as an open dashboard is
  nginx       `return 200`, one worker: no signature, no parsing, no disk. A bound for any HTTP server, not a peer in kind
  fastapi, django, webhook   what peers/start.py tells of, each with its database where it has one
  delivering  hookonce with a destination that answers 200 (another nginx), so it delivers while it accepts
and these run once:
  stalls      hookonce at half of its maximal rate for a minute, beside a probe that makes 4 KB durable every millisecond. An answer that
              takes more than 50 ms from when its request was due is a stall; it counts where the probe does not stand still as well
  memory      what the gateway keeps resident with a million events, 200,000 of them with a delivery that waits: after it took them all,
              after a restart, and under load then
CPU time per event, of all processes of a server, is the binding figure; rates and times depend on what else the machine does, which
stands beside them. A ratio is that of one repetition; the median of all is judged.

usage: ./x bench ingest [--quick] [--only hookonce,nginx] [--repetitions N] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

import bars
import parts
from bars import Bar, micros_per, pairwise
from load import CONNECTIONS, DUPLICATE_EVERY, FOREIGN_CORES_MAX, BenchError, fdatasync_ms

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPEATED = ("hookonce", "watched", "nginx", "fastapi", "django", "webhook", "delivering")
ONCE = ("stalls", "memory")


def expected_duplicates(answers):
    return max(0, answers // DUPLICATE_EVERY - 1)


def miscounted(run):
    """Duplicates that were accepted and events that were lost."""
    return abs(run["duplicates"] - expected_duplicates(run["answers"])) + abs(run["accepted"] + run["duplicates"] - run["ok"])


def served(part, run):
    """What CPU time is counted by: new events where the server tells them from duplicates, requests elsewhere."""
    return run["ok"] if part in ("nginx", "webhook") else run["accepted"]


def compared_rows(rate, cpu):
    return [
        Bar("CPU per event against nginx's per request", "times", 2, 2.8).row(pairwise(cpu["hookonce"], cpu["nginx"])),
        Bar("CPU per event of FastAPI + Redis against ours", "times", 1, 6, "min").row(pairwise(cpu["fastapi"], cpu["hookonce"])),
        Bar("CPU per event of Django + PostgreSQL against ours", "times", 1, 25, "min").row(pairwise(cpu["django"], cpu["hookonce"])),
        Bar("CPU per event with the live stream read, against without", "times", 2, 1.1).row(pairwise(cpu["watched"], cpu["hookonce"])),
        Bar("rate against nginx's", "times", 2, 0.3, "min").row(pairwise(rate["hookonce"], rate["nginx"])),
        Bar("rate against FastAPI + Redis", "times", 1, 5, "min").row(pairwise(rate["hookonce"], rate["fastapi"])),
        Bar("rate against Django + PostgreSQL", "times", 1, 30, "min").row(pairwise(rate["hookonce"], rate["django"])),
    ]


def steady_rows(args, runs):
    half = [run["half"] for run in runs["hookonce"]]
    stalls, memory = runs["stalls"], runs["memory"]
    resident = [run[when] for run in memory for when in ("filled", "restarted", "loaded")]
    held = f"{args.memory_events:,} events, {args.memory_pending:,} of them pending"
    return [
        Bar("answer time p99 at half of the maximal rate", "ms", 2, 25).row([run["p99_ms"] for run in half]),
        Bar(f"stalls within {args.stall_seconds} s that the disk's probe does not show", bound=0, worst=True).row(
            [len(run["stalls"]) for run in stalls]),
        Bar(f"resident memory with {held}", "MB", 0, 150, worst=True).row(resident, judged=not args.quick),
    ]


def counted_rows(runs):
    counting = [run for part in ("hookonce", "watched", "fastapi", "django", "delivering") for run in runs[part]]
    counting += [run["half"] for run in runs["hookonce"]] + runs["stalls"]
    return [
        Bar("answers other than 200", bound=0, worst=True).row(
            [run["other"] + run["broken"] for run in counting + runs["nginx"] + runs["webhook"]]),
        Bar("duplicates accepted or events lost", bound=0, worst=True).row([miscounted(run) for run in counting]),
    ]


def figure_rows(runs, rate, cpu):
    rows = [Bar(f"{part}: CPU per {'request' if part in ('nginx', 'webhook') else 'accepted event'}", "us", 1).row(cpu[part])
            for part in REPEATED[:-1]]
    rows += [Bar(f"{part}: answers", "/s").row(rate[part]) for part in REPEATED[:-1]]
    ours, delivering, stalls, memory = runs["hookonce"], runs["delivering"], runs["stalls"], runs["memory"]
    return rows + [
        Bar("delivering: CPU per event accepted and delivered", "us", 1).row(
            [micros_per(run["whole_cpu_seconds"], run["accepted"]) for run in delivering]),
        Bar("delivering: accepted and delivered", "/s").row([run["accepted"] / run["whole_seconds"] for run in delivering]),
        Bar("generator: CPU per request to hookonce", "us", 1).row([micros_per(run["cpu_seconds"], run["answers"]) for run in ours]),
        Bar("generator: CPU per request to nginx", "us", 1).row(
            [micros_per(run["cpu_seconds"], run["answers"]) for run in runs["nginx"]]),
        Bar("hookonce: answer time p50 at the maximal rate", "ms", 2).row([run["p50_ms"] for run in ours]),
        Bar("hookonce: answer time p99 at the maximal rate", "ms", 2).row([run["p99_ms"] for run in ours]),
        Bar("stalls that the disk's probe shows too").row([len(run["excused"]) for run in stalls]),
        Bar("longest answer in the run for stalls", "ms", 1).row([run["max_ms"] for run in stalls]),
        Bar("longest round of the disk's probe", "ms", 1).row([run["probe"]["longest_ms"] for run in stalls]),
        Bar("resident memory, most since the restart", "MB").row([run["peak"] for run in memory]),
        Bar("restart with these events", "s", 1).row([run["start_seconds"] for run in memory]),
        Bar("other work on the machine", "cores", 2).row(
            [run["foreign_cores"] for part in REPEATED + ("stalls",) for run in runs[part]]),
    ]


def rows_of(args, runs):
    """`runs`: part -> its runs, one per repetition; an empty list where it was not asked for."""
    rate = {part: [run["ok"] / run["seconds"] for run in runs[part]] for part in REPEATED}
    cpu = {part: [micros_per(run["server_cpu_seconds"], served(part, run)) for run in runs[part]] for part in REPEATED}
    return (compared_rows(rate, cpu) + steady_rows(args, runs) + counted_rows(runs), figure_rows(runs, rate, cpu))


def describe(run, name=None):
    disturbed = f", {run['foreign_cores']:.2f} cores busy with other work" if run["foreign_cores"] > FOREIGN_CORES_MAX else ""
    return (f"  {name or run['server']:10} {run['ok'] / run['seconds']:>9,.0f}/s  "
            f"{micros_per(run['server_cpu_seconds'], run['ok']):7.1f} us CPU  "
            f"p50 {run['p50_ms']:.2f} ms  p99 {run['p99_ms']:.2f} ms{disturbed}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true",
                        help="3 repetitions of 2 s instead of 5 of 5 s, 10 s for stalls, a tenth of the events in memory (not judged)")
    parser.add_argument("--only", metavar="PART,...", help=f"measure these alone: {', '.join(REPEATED + ONCE)}")
    parser.add_argument("--repetitions", type=int, metavar="N")
    parser.add_argument("--rate", type=int, metavar="N", help="requests a second for stalls, where hookonce is not measured as well")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--binary", default=str(ROOT / "build/release/hookonce"))
    parser.add_argument("--generator", default=str(ROOT / "build/release/bench/hookonce_bench"))
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build",
                        help="where inboxes and databases lie: a real disk, not tmpfs")
    args = parser.parse_args()
    args.parts = args.only.split(",") if args.only else list(REPEATED + ONCE)
    unknown = set(args.parts) - set(REPEATED + ONCE)
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if "stalls" in args.parts and "hookonce" not in args.parts and not args.rate:
        parser.error("stalls needs hookonce measured as well, or --rate")
    args.repetitions = args.repetitions or (3 if args.quick else 5)
    args.seconds, args.drain_seconds, args.stall_seconds = (2, 60, 10) if args.quick else (5, 180, 60)
    args.memory_events, args.memory_pending = (100_000, 20_000) if args.quick else (1_000_000, 200_000)
    return args


def say_progress(text):
    """One line that the next overwrites, on a terminal alone."""
    if sys.stdout.isatty():
        print(f"\r\033[K  {text}", end="", flush=True)


def announce(text):
    """What takes minutes is told of everywhere."""
    if sys.stdout.isatty():
        say_progress(text)
    else:
        print(f"  {text}", flush=True)


def end_progress():
    if sys.stdout.isatty():
        print("\r\033[K", end="")


def run_repeated(args, directory, runs):
    for i in range(args.repetitions):
        for part in [part for part in REPEATED if part in args.parts]:
            say_progress(f"repetition {i + 1} of {args.repetitions}: {part} ...")
            run = getattr(parts, part)(args, directory)
            runs[part].append(run)
            end_progress()
            print(describe(run), flush=True)
            if "half" in run:
                print(describe(run["half"], "  at half"), flush=True)


def run_stalls(args, directory, runs):
    rate = parts.half_rate(runs["hookonce"]) if runs["hookonce"] else args.rate
    announce(f"stalls: {args.stall_seconds} s at {rate:,}/s ...")
    run = parts.stalls(args, directory, rate)
    runs["stalls"].append(run)
    end_progress()
    print(describe(run))
    for kind, verdict in (("stalls", "the probe did not stand still"), ("excused", "the probe stood still too")):
        for stall in run[kind][:10]:
            print(f"    {(stall['ended'] - stall['begun']) * 1000:.0f} ms, {stall['answers']} answers: {verdict}")


def run_memory(args, directory, runs):
    begun = time.monotonic()
    announce(f"memory: filling the inbox with {args.memory_events:,} events ...")
    found = parts.memory(args, directory, say_progress)
    runs["memory"].append(found)
    end_progress()
    print(f"  memory     {found['events']:,.0f} events, {found['pending']:,.0f} pending: {found['filled']:.0f} MB filled, "
          f"{found['restarted']:.0f} MB restarted, {found['loaded']:.0f} MB under load, {found['peak']:.0f} MB at most "
          f"({time.monotonic() - begun:.0f} s)", flush=True)


def run(args):
    runs = {part: [] for part in REPEATED + ONCE}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=args.dir) as name:
        directory = pathlib.Path(name)
        directory.chmod(0o711)  # PostgreSQL runs as a user of its own and must get through to its folder
        tempfile.tempdir = name  # so that the peers' databases lie on the same disk
        machine = {"cores": os.cpu_count(), "fdatasync_ms": fdatasync_ms(directory)}
        print(f"bench ingest: {args.repetitions} repetitions of {args.seconds} s, {CONNECTIONS} connections, "
              f"{machine['cores']} cores, fdatasync of 4 KB {machine['fdatasync_ms']:.2f} ms\n", flush=True)
        run_repeated(args, directory, runs)
        if "stalls" in args.parts:
            run_stalls(args, directory, runs)
        if "memory" in args.parts:
            run_memory(args, directory, runs)
    measured = [run for part in REPEATED + ("stalls",) for run in runs[part]]
    machine["disturbed_runs"] = sum(run["foreign_cores"] > FOREIGN_CORES_MAX for run in measured)
    if machine["disturbed_runs"]:
        print(f"\n  {machine['disturbed_runs']} of {len(measured)} runs shared the machine with other work: rates are too low and times "
              f"too long then;\n  CPU time per event and the ratios suffer least")
    return runs, machine


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    try:
        runs, machine = run(args)
    except (BenchError, OSError) as error:
        end_progress()
        print(f"bench ingest: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    judged, figures = rows_of(args, runs)
    for title, rows in (("bar", judged), ("figure", figures)):
        bars.print_table([row for row in rows if row["spread"]], title)
    if args.json:
        args.json.write_text(json.dumps({"machine": machine, "rows": judged, "figures": figures, "runs": runs}, indent=2) + "\n")
    return 0 if bars.passed(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
