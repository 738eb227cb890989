#!/usr/bin/python3
"""How many events a second the gateway accepts durably, what each costs, and how that compares with nginx.

One generator sends the same signed requests (Stripe events of 1.5 KB, 64 keep-alive connections, 1 % duplicates) in turn to
  hookonce  with a SQLite inbox on this disk and one destination, an nginx that answers 200; so it delivers while it accepts
  nginx     `return 200`, one worker: no signature, no parsing, no disk. A bound for any HTTP server, not a peer in kind
Everything runs on one machine, so CPU time per event and the ratio are the figures to trust; events a second depend on what
else the machine does, which stands beside them.

usage: ./x bench ingest [--quick] [--json FILE]
"""
import argparse
import contextlib
import json
import os
import pathlib
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
SECRET = "whsec_bench"
CONNECTIONS = 64
DUPLICATE_EVERY = 100
WARM_UP_EVENTS = 2000
START_SECONDS_MAX = 20
FOREIGN_CORES_MAX = 0.25  # busier than that with other work, and a repetition is called disturbed

# name of the row -> (unit, number of decimals, bound, which side of it is good). The bounds are what a change must not fall
# behind, not what the program can do: they leave room for a loaded machine.
ROWS = {
    "durable accepts": ("/s", 0, None, None),
    "nginx answers": ("/s", 0, None, None),
    "ratio of accepts to nginx": ("", 2, 0.10, "min"),
    "hookonce CPU per event, accepting": ("us", 1, None, None),
    "hookonce CPU per event, accepted and delivered": ("us", 1, 400, "max"),
    "nginx CPU per request": ("us", 1, None, None),
    "generator CPU per request": ("us", 1, None, None),
    "answer time p50": ("ms", 2, None, None),
    "answer time p99": ("ms", 2, 400, "max"),
    "deliveries, until none waits": ("/s", 0, None, None),
    "answers other than 200": ("", 0, 0, "max"),
    "duplicates accepted or events lost": ("", 0, 0, "max"),
}


class BenchError(Exception):
    pass


def cpu_seconds(pid):
    """User and system time of a process with all its threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def machine_busy_seconds():
    """What all cores together have worked; time stolen by the host is not ours, but it disturbs as well."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(
        int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / os.sysconf("SC_CLK_TCK")


def fsync_ms(directory):
    """What the disk takes to make 4 KB durable: the floor under every commit."""
    took = []
    with tempfile.TemporaryFile(dir=directory) as file:
        for _ in range(100):
            file.write(b"x" * 4096)
            file.flush()
            begun = time.perf_counter()
            os.fdatasync(file.fileno())
            took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


@contextlib.contextmanager
def stopping(process):
    """Ends the process, and only that one, however the block is left."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(40)  # a drain takes 25 s at most
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def await_listening(process, port):
    end = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < end:
        if process.poll() is not None:
            raise BenchError(f"{process.args[0]} ended with {process.returncode} instead of listening")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise BenchError(f"{process.args[0]} does not listen on port {port}")


@contextlib.contextmanager
def nginx(directory, name):
    """A one-worker nginx that answers 200 to everything; yields (process, port)."""
    binary = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if binary is None:
        raise BenchError("nginx is not installed (./x bench installs it: nginx-light)")
    home = directory / name
    home.mkdir()
    port = free_port()
    (home / "nginx.conf").write_text(f"""
daemon off; master_process off; worker_processes 1; pid {home}/pid; error_log {home}/error.log;
events {{ worker_connections 1024; }}
http {{
  access_log off; keepalive_requests 1000000000; client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ return 200 "ok\\n"; }} }}
}}
""")
    process = subprocess.Popen([binary, "-p", str(home), "-c", str(home / "nginx.conf"), "-e", str(home / "error.log")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with stopping(process):
        await_listening(process, port)
        yield process, port


@contextlib.contextmanager
def hookonce(binary, directory, name, backend_port):
    """A gateway with an empty inbox; yields (process, ingest port, admin address)."""
    home = directory / name
    home.mkdir()
    (home / "hookonce.toml").write_text(f"""
[server]
listen = "127.0.0.1:0"
admin = "127.0.0.1:0"
[store]
url = "sqlite:{home}/inbox.db"
[sources.stripe]
provider = "stripe"
secrets = ["{SECRET}"]
destinations = ["backend"]
[destinations.backend]
url = "http://127.0.0.1:{backend_port}/"
""")
    with open(home / "log", "wb") as log:
        process = subprocess.Popen([binary, "serve", "--config", str(home / "hookonce.toml")], stdout=subprocess.PIPE,
                                   stderr=log, text=True)
    with stopping(process):
        ready = process.stdout.readline()
        if not ready.startswith("hookonce: ready "):
            raise BenchError(f"hookonce did not start: {(home / 'log').read_text()[-2000:]}")
        addresses = dict(word.split("=", 1) for word in ready.split()[2:])
        yield process, int(addresses["ingest"].rsplit(":", 1)[1]), addresses["admin"]


def generate(generator, port, seconds, events=None):
    command = [generator, "--port", str(port), "--path", "/in/stripe", "--secret", SECRET, "--seconds", str(seconds),
               "--connections", str(CONNECTIONS), "--duplicate-every", str(DUPLICATE_EVERY)]
    if events is not None:
        command += ["--events", str(events)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BenchError(f"the generator ended with {done.returncode}")
    return json.loads(done.stdout)


def measure(generator, port, seconds, server, companion=None):
    """One run of the generator against one server; both sides' CPU time and what else the machine did meanwhile, beside the
    companion that the server works with."""
    def readings():
        return [cpu_seconds(server.pid), cpu_seconds(companion.pid) if companion else 0.0, machine_busy_seconds()]

    before = readings()
    load = generate(generator, port, seconds)
    server_cpu, companion_cpu, machine = (after - first for after, first in zip(readings(), before))
    load["server_cpu_seconds"] = server_cpu
    load["foreign_cores"] = max(0.0, (machine - server_cpu - companion_cpu - load["cpu_seconds"]) / load["seconds"])
    return load


def deliveries_wait(admin):
    """An event is pending while any delivery of it is pending or in flight."""
    with urllib.request.urlopen(f"http://{admin}/api/v1/events?state=pending&limit=1", timeout=30) as answer:
        return bool(json.load(answer)["items"])


def await_delivered(admin, seconds_max):
    """Whether no delivery waits any more before the time is over."""
    end = time.monotonic() + seconds_max
    while deliveries_wait(admin):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def run_hookonce(args, directory, name, backend, backend_port):
    with hookonce(args.binary, directory, name, backend_port) as (process, port, admin):
        generate(args.generator, port, args.seconds, WARM_UP_EVENTS)
        await_delivered(admin, args.drain_seconds)
        cpu_before, begun = cpu_seconds(process.pid), time.monotonic()
        load = measure(args.generator, port, args.seconds, process, backend)
        load["delivered"] = await_delivered(admin, args.drain_seconds)
        load["whole_seconds"] = time.monotonic() - begun
        load["whole_cpu_seconds"] = cpu_seconds(process.pid) - cpu_before
    shutil.rmtree(directory / name)
    return load


def micros_per(seconds, count):
    return seconds * 1e6 / max(count, 1)


def expected_duplicates(answers):
    return max(0, answers // DUPLICATE_EVERY - 1)


def rows_of(ours, theirs):
    """Each row's values, one per repetition."""
    rates = [run["ok"] / run["seconds"] for run in ours]
    peer_rates = [run["ok"] / run["seconds"] for run in theirs]
    events = [run["accepted"] for run in ours]
    values = {
        "durable accepts": rates,
        "nginx answers": peer_rates,
        "ratio of accepts to nginx": [mine / peer for mine, peer in zip(rates, peer_rates)],
        "hookonce CPU per event, accepting": [micros_per(run["server_cpu_seconds"], run["ok"]) for run in ours],
        "hookonce CPU per event, accepted and delivered": [micros_per(run["whole_cpu_seconds"], n)
                                                           for run, n in zip(ours, events)],
        "nginx CPU per request": [micros_per(run["server_cpu_seconds"], run["ok"]) for run in theirs],
        "generator CPU per request": [micros_per(run["cpu_seconds"], run["answers"]) for run in ours],
        "answer time p50": [run["p50_ms"] for run in ours],
        "answer time p99": [run["p99_ms"] for run in ours],
        "deliveries, until none waits": [n / run["whole_seconds"] if run["delivered"] else 0.0
                                         for run, n in zip(ours, events)],
        "answers other than 200": [run["other"] + run["broken"] for run in ours],
        "duplicates accepted or events lost": [abs(run["duplicates"] - expected_duplicates(run["answers"])) +
                                               abs(run["accepted"] + run["duplicates"] - run["ok"]) for run in ours],
    }
    return [row(name, values[name]) for name in ROWS]


def row(name, values):
    unit, decimals, bound, side = ROWS[name]
    # A bound on what must never happen holds for the worst repetition, any other for the median.
    measured = max(values) if bound == 0 else statistics.median(values)
    ok = bound is None or (measured >= bound if side == "min" else measured <= bound)

    def write(number):
        return f"{number:,.{decimals}f}{'' if unit in ('', '/s') else ' '}{unit}"

    target = None if bound is None else f"{'at least' if side == 'min' else 'at most'} {write(bound)}"
    return {"name": name, "target": target, "measured": write(measured), "spread": f"{write(min(values))} to {write(max(values))}",
            "ok": ok}


def print_table(rows):
    widths = [max(len(str(r[key] or "")) for r in rows + [{"name": "", "measured": "median", "spread": "", "target": ""}])
              for key in ("name", "measured", "spread", "target")]
    print(f"\n  {'':{widths[0]}}  {'median':>{widths[1]}}  {'spread':{widths[2]}}  {'target':{widths[3]}}")
    for r in rows:
        verdict = "" if r["target"] is None else ("ok" if r["ok"] else "MISSED")
        print(f"  {r['name']:{widths[0]}}  {r['measured']:>{widths[1]}}  {r['spread']:{widths[2]}}  "
              f"{r['target'] or '':{widths[3]}}  {verdict}".rstrip())


def describe(name, run):
    disturbed = f", {run['foreign_cores']:.2f} cores busy with other work" if run["foreign_cores"] > FOREIGN_CORES_MAX else ""
    return (f"  {name:9} {run['ok'] / run['seconds']:>9,.0f}/s  {micros_per(run['server_cpu_seconds'], run['ok']):6.1f} us CPU  "
            f"p50 {run['p50_ms']:.2f} ms  p99 {run['p99_ms']:.2f} ms{disturbed}")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--quick", action="store_true", help="3 repetitions of 2 s instead of 5 of 5 s")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the rows to FILE")
    parser.add_argument("--binary", default=str(ROOT / "build/release/hookonce"))
    parser.add_argument("--generator", default=str(ROOT / "build/release/bench/hookonce_bench"))
    parser.add_argument("--dir", type=pathlib.Path, default=ROOT / "build", help="where the inbox lies: a real disk, not tmpfs")
    args = parser.parse_args()
    args.repetitions, args.seconds, args.drain_seconds = (3, 2, 60) if args.quick else (5, 5, 180)
    return args


def run(args):
    ours, theirs = [], []
    with tempfile.TemporaryDirectory(prefix="bench-", dir=args.dir) as name:
        directory = pathlib.Path(name)
        print(f"bench ingest: {args.repetitions} repetitions of {args.seconds} s, {CONNECTIONS} connections, "
              f"{os.cpu_count()} cores, fdatasync of 4 KB {fsync_ms(directory):.2f} ms\n")
        with nginx(directory, "backend") as (backend, backend_port), nginx(directory, "peer") as (peer, peer_port):
            for i in range(args.repetitions):
                ours.append(run_hookonce(args, directory, f"hookonce-{i}", backend, backend_port))
                print(describe("hookonce", ours[-1]), flush=True)
                generate(args.generator, peer_port, args.seconds, WARM_UP_EVENTS)
                theirs.append(measure(args.generator, peer_port, args.seconds, peer))
                print(describe("nginx", theirs[-1]), flush=True)
    disturbed = sum(run["foreign_cores"] > FOREIGN_CORES_MAX for run in ours + theirs)
    if disturbed:
        print(f"\n  {disturbed} of {len(ours + theirs)} runs shared the machine with other work: rates are too low and times too "
              f"long then;\n  CPU time per event and the ratio suffer least")
    return rows_of(ours, theirs)


def main():
    args = parse_arguments()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that what was started is stopped
    try:
        rows = run(args)
    except (BenchError, OSError) as error:
        print(f"bench ingest: {error}", file=sys.stderr)
        return 1
    print_table(rows)
    if args.json:
        args.json.write_text(json.dumps({"rows": rows}, indent=2) + "\n")
    return 0 if all(r["ok"] for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
