#!/usr/bin/env python3
"""The demo: a gateway in front of a backend, what hurts is sent, and one table says what came of it.

The requests are made and signed here, independently of the gateway, as the providers would; the backend is `hookonce sink`.
"""
import argparse
import json
import os
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test"))

from support import senders  # noqa: E402
from support.gateway import to_toml  # noqa: E402
from support.http_client import Connection, request_bytes  # noqa: E402

DIRECTORY = ROOT / "build" / "demo"
SECRETS = {"stripe": "whsec_demo00000000000000000000000000", "slack": "demo-signing-secret", "github": "demo-webhook-secret"}
COPIES = 64
TWIN_GAP_SECONDS = 0.005   # what makes it a twin: the scenario itself, not a wait for something
PATIENCE_SECONDS = 30      # for a delivery; the retries in the demo take under one second


def port(wanted):
    """`wanted` where it is free, else any free one."""
    for candidate in (wanted, 0):
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                probe.bind(("127.0.0.1", candidate))
                return probe.getsockname()[1]
            except OSError:
                continue
    raise SystemExit("demo: no free port on 127.0.0.1")


class Demo:
    def __init__(self, binary):
        self.binary = str(pathlib.Path(binary).resolve())
        self.processes = []
        self.slowest = 0.0
        self.requests = 0
        self.lock = threading.Lock()

    def launch(self, name, arguments, ready):
        """Starts a process of ours and waits for the line that says it is ready."""
        log = open(DIRECTORY / f"{name}.log", "wb")
        process = subprocess.Popen([self.binary] + arguments, cwd=DIRECTORY, stdout=subprocess.PIPE, stderr=log)
        self.processes.append(process)
        for line in process.stdout:
            if ready in line.decode():
                threading.Thread(target=lambda: shutil.copyfileobj(process.stdout, log), daemon=True).start()
                return line.decode()
        raise SystemExit(f"demo: {name} did not start:\n{(DIRECTORY / f'{name}.log').read_text()[-2000:]}")

    def start(self):
        shutil.rmtree(DIRECTORY, ignore_errors=True)
        DIRECTORY.mkdir(parents=True)
        self.backend = f"127.0.0.1:{port(9000)}"
        # Every event of the GitHub source meets a backend that fails twice first; it is a sink of its own.
        self.failing = f"127.0.0.1:{port(9001)}"
        ingest, admin = f"127.0.0.1:{port(8080)}", f"127.0.0.1:{port(8081)}"
        retry = {"first": "200ms", "factor": 2.0, "max": "1s"}
        tables = {
            "server": {"listen": ingest, "admin": admin},
            "store": {"url": "sqlite:demo.db"},
            "sources": {name: {"provider": name, "secrets": [SECRETS[name]],
                               "destinations": ["failing" if name == "github" else "backend"]} for name in SECRETS},
            "destinations": {"backend": {"url": f"http://{self.backend}/", "retry": retry},
                             "failing": {"url": f"http://{self.failing}/", "retry": retry}},
        }
        (DIRECTORY / "hookonce.toml").write_text(to_toml(tables))
        self.launch("backend", ["sink", "--listen", self.backend], "")
        self.launch("failing", ["sink", "--listen", self.failing, "--fail-first", "2"], "")
        line = self.launch("gateway", ["serve", "--config", "hookonce.toml"], "hookonce: ready ")
        fields = dict(part.split("=", 1) for part in line.split()[2:])
        self.ingest, self.admin = fields["ingest"], fields["admin"]

    def stop(self):
        for process in reversed(self.processes):
            if process.poll() is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()

    def send(self, source, messages, gap=0.0):
        """Sends the messages, each on a connection of its own that is open already: all at once, or `gap` seconds apart."""
        connections = [Connection(self.ingest) for _ in messages]
        answers = [None] * len(messages)
        together = threading.Barrier(len(messages))

        def one(index):
            data = request_bytes("POST", f"/in/{source}", *messages[index])
            together.wait()
            if gap:
                time.sleep(gap * index)
            begin = time.monotonic()
            connections[index].send(data)
            answers[index] = connections[index].answer()
            took = time.monotonic() - begin
            with self.lock:
                self.requests += 1
                self.slowest = max(self.slowest, took)

        threads = [threading.Thread(target=one, args=(index,)) for index in range(len(messages))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for connection in connections:
            connection.close()
        return answers

    def get(self, address, path):
        with urllib.request.urlopen(f"http://{address}{path}", timeout=10) as answer:
            return json.load(answer)

    def outcome(self, provider_id, expect_event):
        """(events, duplicates, effects, attempts) of a provider's id, when its delivery has ended."""
        end = time.monotonic() + PATIENCE_SECONDS
        while True:
            events = self.get(self.admin, f"/api/v1/events?key={provider_id}")["items"]
            settled = all(event["state"] != "pending" for event in events)
            if (settled and bool(events) == expect_event) or time.monotonic() > end:
                break
            time.sleep(0.02)
        effects = sum(self.get(address, "/effects").get(provider_id, 0) for address in (self.backend, self.failing))
        attempts = 0
        for event in events:
            for delivery in self.get(self.admin, f"/api/v1/events/{event['id']}")["deliveries"]:
                attempts = max([attempts] + [attempt["number"] for attempt in delivery["attempts"]])
        return len(events), sum(event["duplicates"] for event in events), effects, attempts


def summary(answers):
    statuses = [answer.status for answer in answers]
    if len(statuses) > 3 and len(set(statuses)) == 1:
        return f"{len(statuses)} x {statuses[0]}"
    return " ".join(map(str, statuses))


def scenarios(demo):
    """(what was sent, provider's id, answers, expected statuses, expected events, duplicates, effects)."""
    stripe, slack, github = SECRETS["stripe"], SECRETS["slack"], SECRETS["github"]
    twin = senders.stripe(stripe, "evt_demo_twin")
    yield ("Stripe invoice.paid, twice within 5 ms", "evt_demo_twin", demo.send("stripe", [twin, twin], TWIN_GAP_SECONDS), 200, 1, 1, 1)
    copy = senders.stripe(stripe, "evt_demo_storm", "charge.succeeded")
    yield (f"Stripe charge.succeeded, {COPIES} copies at once", "evt_demo_storm", demo.send("stripe", [copy] * COPIES), 200, 1, COPIES - 1, 1)
    first = demo.send("slack", [senders.slack(slack, "EvDemoRetry")])
    retry = demo.send("slack", [senders.slack(slack, "EvDemoRetry", retry=(1, "http_timeout"))])
    yield ("Slack message, then Slack's retry (x-slack-retry-num: 1)", "EvDemoRetry", first + retry, 200, 1, 1, 1)
    lost = demo.send("slack", [senders.slack(slack, "EvDemoLost", retry=(1, "http_timeout"))])
    yield ("Slack retry whose first attempt was never stored", "EvDemoLost", lost, 200, 1, 0, 1)
    forged = demo.send("stripe", [senders.stripe("whsec_somebody_elses_0000000000000", "evt_demo_forged")])
    yield ("Forged Stripe event", "evt_demo_forged", forged, 401, 0, 0, 0)
    push = demo.send("github", [senders.github(github, "6d0c7a10-demo-4e5f-8a9b-000000000001")])
    yield ("GitHub push while the backend fails twice", "6d0c7a10-demo-4e5f-8a9b-000000000001", push, 200, 1, 0, 1)


def run(demo):
    print(f"\nHookonce demo: a gateway on {demo.ingest} in front of a backend on {demo.backend}\n")
    print(f"  {'what was sent':<57} {'requests':>8}  {'answers':<10} {'events':>8}  {'duplicates':>10}  took effect")
    well = True
    delivered = 0
    for title, provider_id, answers, status, *expected in scenarios(demo):
        events, duplicates, effects, attempts = demo.outcome(provider_id, expected[0] > 0)
        ok = all(answer.status == status for answer in answers) and [events, duplicates, effects] == expected
        well = well and ok
        delivered += effects
        took = {0: "never", 1: "once"}.get(effects, f"{effects} times")
        note = f"  (attempt {attempts})" if attempts > 1 else ""
        print(f"  {title:<57} {len(answers):>8}  {summary(answers):<10} {events:>8}  {duplicates:>10}  {took:<6} {'ok' if ok else 'WRONG'}{note}",
              flush=True)
    print(f"\n  slowest answer {demo.slowest * 1000:.1f} ms (Slack allows 3,000 ms), {demo.requests} requests, {delivered} events delivered")
    return well


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--binary", default=ROOT / "build/release/hookonce")
    parser.add_argument("--exit", action="store_true", help="end when the table is printed")
    arguments = parser.parse_args()
    demo = Demo(arguments.binary)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        demo.start()
        well = run(demo)
        admin = "" if demo.admin == "127.0.0.1:8081" else f" --admin http://{demo.admin}"
        command = os.path.relpath(demo.binary)
        print(f"\n  look further   {command} events{admin}\n                 {command} why evt_demo_twin{admin}")
        print(f"                 {command} send stripe --to http://{demo.ingest}/in/stripe --secret {SECRETS['stripe']}")
        if not arguments.exit:
            print("\n  all of it stays up until you press Ctrl-C", flush=True)
            signal.pause()
    except KeyboardInterrupt:
        well = True
        print()
    finally:
        demo.stop()
    if not well:
        print(f"demo: not all went as it should; the logs are in {os.path.relpath(DIRECTORY)}", file=sys.stderr)
    return 0 if well else 1


if __name__ == "__main__":
    sys.exit(main())
