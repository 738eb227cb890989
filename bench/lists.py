#!/usr/bin/python3
"""How soon the admin API answers a list or a search over a million events, and whether that is felt by those who are accepted meanwhile.

For SQLite and for PostgreSQL a fresh inbox is filled (bench/fill_inbox.cc): 1,000,000 events of 1 KB from five sources with four types
each and a rare fifth; 200,000 are pending, half of them the oldest and half the newest ones; one in a hundred of the others is dead. Then
a gateway serves it, with the admin API asked over one connection for each kind of list in turn, twenty times a second, while the load
generator has events accepted at an even rate:
  first     the first page of fifty, newest first
  deep      a page somewhere in the million, each time another
  rare      a type that one in ten thousand has: what one call answers, a short page with a cursor perhaps
  text      the first page of a word that one body in ten has, and one call for a word that only two have
Each repetition has a run of the generator without lists before it. The ratio of the answer times of both is that of one repetition; the
median of all is judged. Before that the whole list is paged through once, which must show every event once.

usage: ./x bench lists [--quick] [--only sqlite,postgres] [--repetitions N] [--json FILE]
"""
import argparse
import contextlib
import http.client
import json
import os
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.parse

import bars
import databases
import servers
from bars import Bar, pairwise
from ingest import announce, end_progress
from load import FOREIGN_CORES_MAX, BenchError, Server, fdatasync_ms, generate, measure_work

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORES = {"sqlite": "SQLite", "postgres": "PostgreSQL"}
LIST_MS_MAX = 100
SEARCH_MS_MAX = 1000
ACCEPT_RATIO_MAX = 1.5
ACCEPTS_PER_SECOND = 200
LISTS_PER_SECOND = 20
PAGE_MAX = 500
FREQUENT, RARE = "express", "needle-in-the-stack"

LISTS = {
    "events, first": "events?",
    "events, deep": "events?cursor={cursor}",
    "of a source, first": "events?source=shop",
    "of a source, deep": "events?source=shop&cursor={cursor}",
    "of a type, first": "events?type=order.created",
    "of a type, deep": "events?type=order.created&cursor={cursor}",
    "of a source and a type, deep": "events?source=crm&type=invoice.paid&cursor={cursor}",
    "of a rare type, first": "events?type=account.closed",
    "of a rare type, deep": "events?type=account.closed&cursor={cursor}",
    "pending, first": "events?state=pending",
    "pending, deep": "events?state=pending&cursor={cursor}",
    "pending of a rare type": "events?state=pending&type=account.closed",
    "dead, first": "events?state=dead",
    "dead, deep": "events?state=dead&cursor={cursor}",
    "delivered, first": "events?state=delivered",
    "since a moment, first": "events?since={recent}",
    "until a moment, first": "events?until={middle}",
    "between two moments, of a type": "events?since={middle}&until={recent}&type=order.created",
    "of a key": "events?key={key}",
    "one event": "events/{id}?",
    "deliveries, first": "deliveries?",
    "deliveries, deep": "deliveries?cursor={cursor}",
    "deliveries pending, first": "deliveries?state=pending",
    "deliveries pending, deep": "deliveries?state=pending&cursor={cursor}",
    "deliveries dead, first": "deliveries?state=dead",
    "deliveries dead, deep": "deliveries?state=dead&cursor={cursor}",
    "deliveries to a destination, deep": "deliveries?destination=archive&cursor={cursor}",
    "deliveries delivered to a destination": "deliveries?state=delivered&destination=archive",
}
SEARCHES = {
    "text: a frequent word, first": "events?q=" + FREQUENT,
    "text: a frequent word, deep": "events?q=" + FREQUENT + "&cursor={cursor}",
    "text: a rare word, one call": "events?q=" + RARE,
    "text: a type": "events?q=ticket.closed",
}


class Admin:
    def __init__(self, server):
        host, port = server.admin.rsplit(":", 1)
        self._connection = http.client.HTTPConnection(host, int(port), timeout=60)

    def get(self, path):
        """The answer and the milliseconds that it took."""
        begun = time.perf_counter()
        self._connection.request("GET", "/api/v1/" + path)
        answer = self._connection.getresponse()
        body = answer.read()
        took = (time.perf_counter() - begun) * 1000
        if answer.status != 200:
            raise BenchError(f"GET /api/v1/{path} was answered {answer.status}: {body[:200]!r}")
        return json.loads(body), took


class Places:
    """Cursors, ids, keys and moments somewhere in the inbox, from paging through all of it.

    A cursor is the mark of its list and filters, a dash, and a place, which means the same in every list."""

    def __init__(self, admin, events):
        self._random = random.Random(1)
        self._marks = {template: self._mark_of(admin, template) for template in {**LISTS, **SEARCHES}.values() if "{cursor}" in template}
        self._places, self.items = [], []
        seen, cursor = set(), None
        begun = time.monotonic()
        while True:
            page, _ = admin.get(f"events?limit={PAGE_MAX}" + (f"&cursor={cursor}" if cursor else ""))
            seen.update(item["id"] for item in page["items"])
            self.items += page["items"][:1]
            cursor = page["next_cursor"]
            if cursor is None:
                break
            self._places.append(cursor.split("-", 1)[1])
        self.seconds = time.monotonic() - begun
        self.missing = events - len(seen)

    @staticmethod
    def _mark_of(admin, template):
        page, _ = admin.get(template.replace("cursor={cursor}", "limit=1"))
        if page["next_cursor"] is None:
            raise BenchError(f"{template}: a list of one event at most")
        return page["next_cursor"].split("-", 1)[0]

    def fill(self, template):
        item = self._random.choice(self.items)
        cursor = f"{self._marks.get(template, '')}-{self._random.choice(self._places)}"
        return template.format(cursor=cursor, id=item["id"], key=item["key"],
                               middle=self.items[len(self.items) // 2]["received_at"],
                               recent=self.items[len(self.items) // 100]["received_at"])


def fill(args, store, events):
    command = [args.filler, "--store", store, "--events", str(events), "--pending", str(events // 5)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BenchError(f"filling the inbox ended with {done.returncode}")
    return json.loads(done.stdout)["seconds"]


def p95(values):
    """By nearest rank: of few values the greatest."""
    ordered = sorted(values)
    return ordered[-(-95 * len(ordered) // 100) - 1]


def ask_in_turn(admin, places, ended, took):
    """Lists in turn, until `ended` and each kind at least once."""
    kinds = {**LISTS, **SEARCHES}
    while True:
        for name, template in kinds.items():
            due = time.monotonic() + 1 / LISTS_PER_SECOND
            took.setdefault(name, []).append(admin.get(places.fill(template))[1])
            if ended.wait(max(0.0, due - time.monotonic())) and len(took) == len(kinds):
                return


def accept(args, server, database):
    roots = Server(server.name, server.port, server.roots + database, admin=server.admin)
    return measure_work(roots, lambda: generate(args.generator, server, args.seconds, rate=ACCEPTS_PER_SECOND))


def accept_while_listing(args, server, database, admin, places):
    ended, took, failed = threading.Event(), {}, []

    def ask():
        try:
            ask_in_turn(admin, places, ended, took)
        except (BenchError, OSError, http.client.HTTPException) as error:
            failed.append(error)

    reader = threading.Thread(target=ask)
    reader.start()
    try:
        run = accept(args, server, database)
    finally:
        ended.set()
        reader.join()
    if failed:
        raise BenchError(f"a list failed: {failed[0]}")
    run["lists"] = took
    return run


def search_to_the_end(admin, word):
    """All that is found by going on from cursor to cursor, the calls that took, and the longest of them."""
    found, calls, longest, cursor = 0, 0, 0.0, None
    while True:
        page, took = admin.get(f"events?q={word}" + (f"&cursor={urllib.parse.quote(cursor)}" if cursor else ""))
        found, calls, longest, cursor = found + len(page["items"]), calls + 1, max(longest, took), page["next_cursor"]
        if cursor is None:
            return {"found": found, "calls": calls, "longest_ms": longest}
        if page["searched_until"] is None:
            raise BenchError("a page with a cursor does not say how far the search came")


@contextlib.contextmanager
def inbox(args, directory, store):
    """The store's URL and the pids whose CPU time counts beside the gateway's."""
    if store == "sqlite":
        (directory / "lists").mkdir()
        yield f"sqlite:{directory}/lists/inbox.db", []
    else:
        with databases.postgres() as database:
            yield database.inbox_url, [database.pid]


def measure_store(args, directory, store):
    found = {"quiet": [], "listing": []}
    with inbox(args, directory, store) as (url, database):
        announce(f"{store}: filling an inbox with {args.events:,} events ...")
        found["fill_seconds"] = fill(args, url, args.events)
        with servers.hookonce(args.binary, directory, name=f"lists-{store}", store=url) as server:
            admin = Admin(server)
            announce(f"{store}: paging through all of them ...")
            places = Places(admin, args.events)
            found["paging_seconds"], found["missing"] = places.seconds, places.missing
            found["rare"] = search_to_the_end(admin, RARE)
            for i in range(args.repetitions):
                announce(f"{store}: repetition {i + 1} of {args.repetitions} ...")
                found["quiet"].append(accept(args, server, database))
                found["listing"].append(accept_while_listing(args, server, database, admin, places))
    end_progress()
    return found


def judged_rows(store, found):
    title, listing = STORES[store], found["listing"]

    def rows(kinds, bound):
        return [Bar(f"{title}: {name}, p95", "ms", 1, bound).row([p95(run["lists"][name]) for run in listing]) for name in kinds]

    return rows(LISTS, LIST_MS_MAX) + rows(SEARCHES, SEARCH_MS_MAX) + [
        Bar(f"{title}: a rare word, longest call on the way to the end", "ms", 1, SEARCH_MS_MAX).row([found["rare"]["longest_ms"]]),
        Bar(f"{title}: events with a rare word that are not found", bound=0, worst=True).row([abs(2 - found["rare"]["found"])]),
        Bar(f"{title}: events that paging does not show once", bound=0, worst=True).row([abs(found["missing"])]),
        Bar(f"{title}: answer time p50 of accepts beside lists, against without", "times", 2, ACCEPT_RATIO_MAX).row(
            pairwise([run["p50_ms"] for run in listing], [run["p50_ms"] for run in found["quiet"]])),
        Bar(f"{title}: answers to accepts other than 200", bound=0, worst=True).row(
            [run["other"] + run["broken"] for run in found["quiet"] + listing]),
    ]


def figure_rows(store, found):
    title, listing, quiet = STORES[store], found["listing"], found["quiet"]
    return [Bar(f"{title}: {name}, p50", "ms", 1).row([sorted(run["lists"][name])[len(run["lists"][name]) // 2] for run in listing])
            for name in {**LISTS, **SEARCHES}] + [
        Bar(f"{title}: calls to search all bodies for a rare word").row([found["rare"]["calls"]]),
        Bar(f"{title}: paging through all, {PAGE_MAX} at a time", "s", 1).row([found["paging_seconds"]]),
        Bar(f"{title}: filling", "s", 1).row([found["fill_seconds"]]),
        Bar(f"{title}: accepts without lists, p50", "ms", 2).row([run["p50_ms"] for run in quiet]),
        Bar(f"{title}: accepts beside lists, p50", "ms", 2).row([run["p50_ms"] for run in listing]),
        Bar(f"{title}: accepts without lists, p99", "ms", 2).row([run["p99_ms"] for run in quiet]),
        Bar(f"{title}: accepts beside lists, p99", "ms", 2).row([run["p99_ms"] for run in listing]),
        Bar(f"{title}: other work on the machine", "cores", 2).row([run["foreign_cores"] for run in quiet + listing]),
    ]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="a tenth of the events, 3 repetitions of 4 s instead of 5 of 10 s")
    parser.add_argument("--only", metavar="STORE,...", help=f"measure these alone: {', '.join(STORES)}")
    parser.add_argument("--events", type=int, metavar="N")
    parser.add_argument("--repetitions", type=int, metavar="N")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--binary", default=str(ROOT / "build/release/hookonce"))
    parser.add_argument("--generator", default=str(ROOT / "build/release/bench/hookonce_bench"))
    parser.add_argument("--filler", default=str(ROOT / "build/release/bench/hookonce_fill_inbox"))
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build", help="where the inboxes lie: a real disk, not tmpfs")
    args = parser.parse_args()
    args.stores = args.only.split(",") if args.only else list(STORES)
    unknown = set(args.stores) - set(STORES)
    if unknown:
        parser.error(f"no such store: {', '.join(sorted(unknown))}")
    args.events = args.events or (100_000 if args.quick else 1_000_000)
    args.repetitions = args.repetitions or (3 if args.quick else 5)
    args.seconds = 4 if args.quick else 10
    return args


def run(args):
    runs = {}
    with tempfile.TemporaryDirectory(prefix="bench-", dir=args.dir) as name:
        directory = pathlib.Path(name)
        directory.chmod(0o711)  # PostgreSQL runs as a user of its own and must get through to its folder
        tempfile.tempdir = name  # so that the databases lie on this disk
        machine = {"cores": os.cpu_count(), "fdatasync_ms": fdatasync_ms(directory)}
        print(f"bench lists: {args.events:,} events, {args.repetitions} repetitions of {args.seconds} s with {LISTS_PER_SECOND} lists and "
              f"{ACCEPTS_PER_SECOND} accepts a second,\n{machine['cores']} cores, fdatasync of 4 KB {machine['fdatasync_ms']:.2f} ms\n",
              flush=True)
        for store in args.stores:
            runs[store] = measure_store(args, directory, store)
    measured = [run for found in runs.values() for run in found["quiet"] + found["listing"]]
    machine["disturbed_runs"] = sum(run["foreign_cores"] > FOREIGN_CORES_MAX for run in measured)
    if machine["disturbed_runs"]:
        print(f"\n  {machine['disturbed_runs']} of {len(measured)} runs shared the machine with other work: times are too long then")
    return runs, machine


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    try:
        runs, machine = run(args)
    except (BenchError, OSError) as error:
        end_progress()
        print(f"bench lists: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    judged = [row for store, found in runs.items() for row in judged_rows(store, found)]
    figures = [row for store, found in runs.items() for row in figure_rows(store, found)]
    for title, rows in (("bar", judged), ("figure", figures)):
        bars.print_table(rows, title)
    if args.json:
        args.json.write_text(json.dumps({"machine": machine, "rows": judged, "figures": figures, "runs": runs}, indent=2) + "\n")
    return 0 if bars.passed(judged) else 1


if __name__ == "__main__":
    sys.exit(main())
