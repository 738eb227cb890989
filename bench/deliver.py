#!/usr/bin/python3
"""What delivering costs, how soon an event is at its destination, and how a backlog of a million is taken up.

The same generator and requests as in `./x bench ingest`, a SQLite inbox on this disk, nginx on loopback as the destination. These parts
take turns in every repetition:
  accepting   the gateway accepts alone; deliveries are written and held back
  posting     a bare loop of libcurl's multi interface (bench/curl_posts.cc) posts such deliveries: no store, no records, no decisions
  delivering  the gateway accepts and delivers, until every delivery is recorded: claims, attempts, outcomes and all
  delay       the gateway at a third of the rate at which it accepted and delivered just before: from when the sender has its 200 to when
              nginx has the event
CPU time per event is the binding figure: that of `delivering` against `accepting` and `posting` together, of one repetition each. This runs
once:
  backlog     a gateway starts with a million pending deliveries: how long until the first is at the destination, and what memory it takes
              while it delivers

usage: ./x bench deliver [--quick] [--only delivering,...] [--repetitions N] [--json FILE]
"""
import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile

import bars
import delivery_parts
from bars import Bar, micros_per
from ingest import announce, describe, end_progress, miscounted, say_progress
from load import CONNECTIONS, FOREIGN_CORES_MAX, BenchError, fdatasync_ms

ROOT = pathlib.Path(__file__).resolve().parent.parent
REPEATED = ("accepting", "posting", "delivering", "delay")
CPU_AGAINST_PARTS_MAX = 2.2
DELAY_P50_MS_MAX, DELAY_P99_MS_MAX = 5, 50
DELAY_SHARE = 1 / 3  # of the maximal rate
FIRST_SECONDS_MAX, RESIDENT_MB_MAX = 3, 300


def cpu_per_event(part, run):
    if part == "posting":
        return micros_per(run["cpu_seconds"], run["ok"])
    if part == "delivering":
        return micros_per(run["whole_cpu_seconds"], run["accepted"])
    return micros_per(run["server_cpu_seconds"], run["accepted"])


def against_parts(runs):
    """Delivering against accepting and posting together, per repetition."""
    return [cpu_per_event("delivering", whole) / (cpu_per_event("accepting", accept) + cpu_per_event("posting", post))
            for whole, accept, post in zip(runs["delivering"], runs["accepting"], runs["posting"])]


def whole_rate(run):
    return run["accepted"] / run["whole_seconds"]


def judged_rows(args, runs):
    gateways = runs["accepting"] + runs["delivering"] + runs["delay"]
    backlog, held = runs["backlog"], f"{args.backlog:,} pending"
    return [
        Bar("CPU per event accepted and delivered, against accepting plus a bare post", "times", 2, CPU_AGAINST_PARTS_MAX).row(
            against_parts(runs)),
        Bar("from the sender's 200 to the backend, p50", "ms", 1, DELAY_P50_MS_MAX).row([run["delay_p50_ms"] for run in runs["delay"]]),
        Bar("from the sender's 200 to the backend, p99", "ms", 1, DELAY_P99_MS_MAX).row([run["delay_p99_ms"] for run in runs["delay"]]),
        Bar(f"from the start with {held} to the first delivery", "s", 2, FIRST_SECONDS_MAX, worst=True).row(
            [run["first_seconds"] for run in backlog], judged=not args.quick),
        Bar(f"resident memory with {held}", "MB", 0, RESIDENT_MB_MAX, worst=True).row(
            [run["peak"] for run in backlog], judged=not args.quick),
        Bar("answers other than 200", bound=0, worst=True).row([run["other"] + run.get("broken", 0) for run in gateways + runs["posting"]]),
        Bar("duplicates accepted or events lost", bound=0, worst=True).row([miscounted(run) + run.get("lost", 0) for run in gateways]),
    ]


def figure_rows(runs):
    rows = [Bar(f"{part}: CPU per {'post' if part == 'posting' else 'event'}", "us", 1).row([cpu_per_event(part, run) for run in runs[part]])
            for part in ("accepting", "posting", "delivering")]
    return rows + [
        Bar("accepting: events", "/s").row([run["accepted"] / run["seconds"] for run in runs["accepting"]]),
        Bar("posting: posts", "/s").row([run["ok"] / run["seconds"] for run in runs["posting"]]),
        Bar("delivering: events accepted and delivered", "/s").row([whole_rate(run) for run in runs["delivering"]]),
        Bar("delay: longest", "ms", 1).row([run["delay_max_ms"] for run in runs["delay"]]),
        Bar("delay: rate", "/s").row([run["accepted"] / run["seconds"] for run in runs["delay"]]),
        Bar("backlog: ready", "s", 2).row([run["ready_seconds"] for run in runs["backlog"]]),
        Bar("backlog: resident while delivering", "MB").row([run["resident"] for run in runs["backlog"]]),
        Bar("other work on the machine", "cores", 2).row([run["foreign_cores"] for part in REPEATED for run in runs[part]]),
    ]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 repetitions of 2 s instead of 5 of 5 s, a backlog of a tenth (not judged)")
    parser.add_argument("--only", metavar="PART,...", help=f"measure these alone: {', '.join((*REPEATED, 'backlog'))}")
    parser.add_argument("--repetitions", type=int, metavar="N")
    parser.add_argument("--rate", type=int, metavar="N", help="events a second for delay, where delivering is not measured as well")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--binary", default=str(ROOT / "build/release/hookonce"))
    parser.add_argument("--generator", default=str(ROOT / "build/release/bench/hookonce_bench"))
    parser.add_argument("--poster", default=str(ROOT / "build/release/bench/hookonce_curl_posts"))
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build", help="where inboxes lie: a real disk, not tmpfs")
    args = parser.parse_args()
    args.parts = args.only.split(",") if args.only else [*REPEATED, "backlog"]
    unknown = set(args.parts) - {*REPEATED, "backlog"}
    if unknown:
        parser.error(f"no such part: {', '.join(sorted(unknown))}")
    if "delay" in args.parts and "delivering" not in args.parts and not args.rate:
        parser.error("delay needs delivering measured as well, or --rate")
    args.repetitions = args.repetitions or (3 if args.quick else 5)
    args.seconds, args.drain_seconds = (2, 60) if args.quick else (5, 180)
    args.backlog = 100_000 if args.quick else 1_000_000
    return args


def run_part(args, directory, part, runs):
    if part != "delay":
        return getattr(delivery_parts, part)(args, directory)
    rate = args.rate or max(1, int(whole_rate(runs["delivering"][-1]) * DELAY_SHARE))
    return delivery_parts.delay(args, directory, rate)


def describe_part(part, run):
    if part == "posting":
        return f"  {part:10} {run['ok'] / run['seconds']:>9,.0f}/s  {cpu_per_event(part, run):7.1f} us CPU"
    more = {"delivering": lambda: f"  {cpu_per_event(part, run):.1f} us CPU accepted and delivered, {whole_rate(run):,.0f}/s",
            "delay": lambda: f"  at the backend p50 {run['delay_p50_ms']:.1f} ms  p99 {run['delay_p99_ms']:.1f} ms"}
    return describe(run, part) + more.get(part, lambda: "")()


def run(args):
    runs = {part: [] for part in (*REPEATED, "backlog")}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=args.dir) as name:
        directory = pathlib.Path(name)
        machine = {"cores": os.cpu_count(), "fdatasync_ms": fdatasync_ms(directory)}
        print(f"bench deliver: {args.repetitions} repetitions of {args.seconds} s, {CONNECTIONS} connections, "
              f"{machine['cores']} cores, fdatasync of 4 KB {machine['fdatasync_ms']:.2f} ms\n", flush=True)
        for i in range(args.repetitions):
            for part in [part for part in REPEATED if part in args.parts]:
                say_progress(f"repetition {i + 1} of {args.repetitions}: {part} ...")
                runs[part].append(run_part(args, directory, part, runs))
                end_progress()
                print(describe_part(part, runs[part][-1]), flush=True)
        if "backlog" in args.parts:
            announce(f"backlog: filling the inbox with {args.backlog:,} events ...")
            found = delivery_parts.backlog(args, directory, say_progress)
            runs["backlog"].append(found)
            end_progress()
            print(f"  backlog    ready after {found['ready_seconds']:.2f} s, first delivery after {found['first_seconds']:.2f} s, "
                  f"{found['resident']:.0f} MB, at most {found['peak']:.0f} MB; {found['delivered']:,.0f} delivered meanwhile", flush=True)
    measured = [run for part in REPEATED for run in runs[part]]
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
        print(f"bench deliver: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    judged, figures = judged_rows(args, runs), figure_rows(runs)
    for title, rows in (("bar", judged), ("figure", figures)):
        bars.print_table([row for row in rows if row["spread"]], title)
    if args.json:
        args.json.write_text(json.dumps({"machine": machine, "rows": judged, "figures": figures, "runs": runs}, indent=2) + "\n")
    return 0 if bars.passed(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
