#!/usr/bin/python3
"""What accepting costs where several instances share one PostgreSQL or one Redis: beside a client that only writes, and with two of them.

The same generator and the same requests as in `./x bench ingest`. Each part has a fresh database on this disk, durable before it answers
(synchronous_commit and fsync on; appendfsync always). For each of the two stores these take turns in every repetition:
  one     one gateway, 64 connections, 1 % duplicates; deliveries are written and held back
  bare    a client without HTTP, signatures, hashes or decisions (bench/store_writer.h). It writes the rows of such events - dedup key,
          event, headers and body, delivery - into the tables or keys that a gateway made, in batches as large as the gateway's were
          just before, one after another: one prepared statement with arrays (PostgreSQL) or one script (Redis) is one durable
          transaction. Of a duplicate it writes nothing
  two     two gateways on one database, the connections split over both
In the figures of `one` and `two` is the CPU time of the gateways and of the whole database (every process of PostgreSQL; redis-server);
in those of `bare` that of the client and of the whole database. So the difference is what receiving, verifying, deciding, recording the
duplicates, statements that any pooler takes, metrics and log cost together. Not in the figures: the load generator, kernel threads that
write back files, checkpoints and vacuums that begin later, rewriting Redis's append-only file (switched off here), attempts, settling.

CPU time per event is the binding figure. Rates share the cores with the generator, which `bare` does not have; they and all times depend
on what else the machine does, which stands beside them. A ratio or a difference is that of one repetition; the median of all is judged.

usage: ./x bench stores [--quick] [--only postgres,redis] [--repetitions N] [--json FILE]
"""
import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile

import bars
import databases
import servers
from bars import Bar, micros_per, pairwise
from ingest import describe, end_progress, miscounted, say_progress
from load import CONNECTIONS, DUPLICATE_EVERY, FOREIGN_CORES_MAX, BenchError, Server, fdatasync_ms, generate, measure_work
from parts import WARM_UP_EVENTS

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORES = {"postgres": ("PostgreSQL", databases.postgres, 0.45), "redis": ("Redis", databases.redis, 0.4)}  # title, server, bar of the rate
PARTS = ("one", "bare", "two")
CPU_ABOVE_BARE_MAX = 25  # microseconds an event
TWO_AGAINST_ONE_MIN = 0.9


def combined(reports):
    """One report of generators that ran at the same time."""
    run = {name: sum(report[name] for report in reports)
           for name in ("answers", "ok", "accepted", "duplicates", "other", "broken", "cpu_seconds")}
    run.update({name: max(report[name] for report in reports) for name in ("seconds", "p50_ms", "p99_ms", "max_ms")})
    run["halves"] = reports
    return run


def generate_on(args, gateways, **options):
    """The generators of all gateways at once, the connections split over them."""
    with concurrent.futures.ThreadPoolExecutor(len(gateways)) as pool:
        return combined(list(pool.map(
            lambda gateway: generate(args.generator, gateway, args.seconds, connections=CONNECTIONS // len(gateways), **options),
            gateways)))


def committed(gateways):
    """(events and settlements, transactions) since they started."""
    return [sum(servers.metric(gateway, name) for gateway in gateways)
            for name in ("hookonce_committed_items_total", "hookonce_commits_total")]


def accept(args, directory, store, instances):
    with STORES[store][1]() as database, contextlib.ExitStack() as stack:
        gateways = [stack.enter_context(servers.hookonce(args.binary, directory, name=f"gateway-{i}", store=database.inbox_url))
                    for i in range(instances)]
        generate_on(args, gateways, events=WARM_UP_EVENTS // instances)
        items, commits = committed(gateways)
        roots = [pid for gateway in gateways for pid in gateway.roots] + [database.pid]
        run = measure_work(Server(f"{store} {'one' if instances == 1 else 'two'}", 0, roots), lambda: generate_on(args, gateways))
        items_after, commits_after = committed(gateways)
        run["batch"] = (items_after - items) / (commits_after - commits)
    for i in range(instances):
        shutil.rmtree(directory / f"gateway-{i}")
    return run


def write_bare(args, directory, store, batch):
    with STORES[store][1]() as database:
        with servers.hookonce(args.binary, directory, name="gateway-0", store=database.inbox_url):
            pass  # it makes the inbox
        shutil.rmtree(directory / "gateway-0")
        command = [args.client, *database.client_options, "--batch", str(batch), "--seconds", str(args.seconds),
                   "--warm-up", str(WARM_UP_EVENTS), "--duplicate-every", str(DUPLICATE_EVERY)]

        def write():
            done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
            if done.returncode != 0:
                raise BenchError(f"the bare client ended with {done.returncode}")
            return json.loads(done.stdout)

        run = measure_work(Server(f"{store} bare", 0, [database.pid]), write)
    run["batch"] = batch
    return run


def cpu_per_event(run):
    return micros_per(run["server_cpu_seconds"], run["accepted"])


def bare_cpu_per_event(run):
    return micros_per(run["server_cpu_seconds"] + run["cpu_seconds"], run["accepted"])


def database_cpu_per_event(run):
    return micros_per(run["root_cpu_seconds"][-1], run["accepted"])


def rate(run):
    return run["ok"] / run["seconds"]


def judged_rows(store, runs):
    title, _, share = STORES[store]
    rates = {part: [rate(run) for run in runs[part]] for part in PARTS}
    above = [cpu_per_event(one) - bare_cpu_per_event(bare) for one, bare in zip(runs["one"], runs["bare"])]
    gateways = runs["one"] + runs["two"]
    return [
        Bar(f"{title}: CPU per event above the bare client's", "us", 1, CPU_ABOVE_BARE_MAX).row(above),
        Bar(f"{title}: rate against the bare client's", "times", 2, share, "min").row(pairwise(rates["one"], rates["bare"])),
        Bar(f"{title}: rate of two instances against one", "times", 2, TWO_AGAINST_ONE_MIN, "min").row(
            pairwise(rates["two"], rates["one"])),
        Bar(f"{title}: answers other than 200", bound=0, worst=True).row([run["other"] + run["broken"] for run in gateways]),
        Bar(f"{title}: duplicates accepted or events lost", bound=0, worst=True).row(
            [sum(map(miscounted, run["halves"])) for run in gateways]),
    ]


def figure_rows(store, runs):
    title = STORES[store][0]
    rows = []
    for part, per_event in (("one", cpu_per_event), ("bare", bare_cpu_per_event), ("two", cpu_per_event)):
        rows += [
            Bar(f"{title}, {part}: CPU per event", "us", 1).row([per_event(run) for run in runs[part]]),
            Bar(f"{title}, {part}: of it the database", "us", 1).row([database_cpu_per_event(run) for run in runs[part]]),
            Bar(f"{title}, {part}: events a batch", "", 1).row([run["batch"] for run in runs[part]]),
            Bar(f"{title}, {part}: events", "/s").row([rate(run) for run in runs[part]]),
        ]
    return rows + [
        Bar(f"{title}, one: answer time p50 at the maximal rate", "ms", 2).row([run["p50_ms"] for run in runs["one"]]),
        Bar(f"{title}, one: answer time p99 at the maximal rate", "ms", 2).row([run["p99_ms"] for run in runs["one"]]),
        Bar(f"{title}: other work on the machine", "cores", 2).row([run["foreign_cores"] for part in PARTS for run in runs[part]]),
    ]


def describe_bare(run):
    return (f"  {run['server']:13} {rate(run):>9,.0f}/s  {bare_cpu_per_event(run):7.1f} us CPU  batches of {run['batch']:.0f}")


def run_store(args, directory, store):
    """One repetition: part -> its run."""
    found = {"one": accept(args, directory, store, 1)}
    found["bare"] = write_bare(args, directory, store, max(1, round(found["one"]["batch"])))
    found["two"] = accept(args, directory, store, 2)
    end_progress()
    for part in PARTS:
        run = found[part]
        print(describe_bare(run) if part == "bare" else f"{describe(run, f'{store} {part}')}, batches of {run['batch']:.1f}", flush=True)
    return found


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 repetitions of 2 s instead of 5 of 5 s")
    parser.add_argument("--only", metavar="STORE,...", help=f"measure these alone: {', '.join(STORES)}")
    parser.add_argument("--repetitions", type=int, metavar="N")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--binary", default=str(ROOT / "build/release/hookonce"))
    parser.add_argument("--generator", default=str(ROOT / "build/release/bench/hookonce_bench"))
    parser.add_argument("--client", default=str(ROOT / "build/release/bench/hookonce_store_client"))
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build", help="where the databases lie: a real disk, not tmpfs")
    args = parser.parse_args()
    args.stores = args.only.split(",") if args.only else list(STORES)
    unknown = set(args.stores) - set(STORES)
    if unknown:
        parser.error(f"no such store: {', '.join(sorted(unknown))}")
    args.repetitions = args.repetitions or (3 if args.quick else 5)
    args.seconds = 2 if args.quick else 5
    return args


def run(args):
    runs = {store: {part: [] for part in PARTS} for store in STORES}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=args.dir) as name:
        directory = pathlib.Path(name)
        directory.chmod(0o711)  # PostgreSQL runs as a user of its own and must get through to its folder
        tempfile.tempdir = name  # so that the databases lie on this disk
        machine = {"cores": os.cpu_count(), "fdatasync_ms": fdatasync_ms(directory)}
        print(f"bench stores: {args.repetitions} repetitions of {args.seconds} s, {CONNECTIONS} connections, "
              f"{machine['cores']} cores, fdatasync of 4 KB {machine['fdatasync_ms']:.2f} ms\n", flush=True)
        for i in range(args.repetitions):
            for store in args.stores:
                say_progress(f"repetition {i + 1} of {args.repetitions}: {store} ...")
                for part, found in run_store(args, directory, store).items():
                    runs[store][part].append(found)
    measured = [run for store in STORES for part in PARTS for run in runs[store][part]]
    machine["disturbed_runs"] = sum(run["foreign_cores"] > FOREIGN_CORES_MAX for run in measured)
    if machine["disturbed_runs"]:
        print(f"\n  {machine['disturbed_runs']} of {len(measured)} runs shared the machine with other work: rates are too low and times "
              f"too long then;\n  CPU time per event suffers least and is what counts")
    return runs, machine


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    try:
        runs, machine = run(args)
    except (BenchError, OSError) as error:
        end_progress()
        print(f"bench stores: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    judged = [row for store in STORES for row in judged_rows(store, runs[store])]
    figures = [row for store in STORES for row in figure_rows(store, runs[store])]
    for title, rows in (("bar", judged), ("figure", figures)):
        bars.print_table([row for row in rows if row["spread"]], title)
    if args.json:
        args.json.write_text(json.dumps({"machine": machine, "rows": judged, "figures": figures, "runs": runs}, indent=2) + "\n")
    return 0 if bars.passed(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
