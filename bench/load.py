"""One run of the load generator against one server, with what it cost: the server's CPU time, the generator's, and what else the
machine did meanwhile.

CPU time is that of all processes of the server (workers, databases) with all their threads, from /proc: other work on the machine
changes it little, while it changes rates and answer times a lot.
"""
import contextlib
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import tempfile
import time

SECRET = "whsec_bench"
CONNECTIONS = 64
DUPLICATE_EVERY = 100
START_SECONDS_MAX = 30
STOP_SECONDS_MAX = 40     # a drain of the gateway takes 25 s at most
FOREIGN_CORES_MAX = 0.25  # busier than that with other work, and a run is called disturbed
TICKS = os.sysconf("SC_CLK_TCK")


class BenchError(Exception):
    pass


class Server:
    """What is put under load. `roots` are the process ids of which it and all descendants are the server."""

    def __init__(self, name, port, roots, path="/in/stripe", scheme="stripe", admin=None):
        self.name = name
        self.port = port
        self.roots = roots
        self.path = path
        self.scheme = scheme
        self.admin = admin

    def cpu_seconds(self):
        return sum(tree_cpu_seconds(pid) for pid in self.roots)


def _stat(pid):
    """The fields of /proc/PID/stat behind the program's name, which may itself hold blanks and brackets."""
    return pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()


def descendants(root):
    """Process ids of `root` and of all that descend from it."""
    children = {}
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            with contextlib.suppress(OSError, IndexError):
                children.setdefault(int(_stat(entry)[1]), []).append(int(entry))
    found = [root]
    for pid in found:
        found.extend(children.get(pid, []))
    return found


def tree_cpu_seconds(root):
    """User and system time of a process, its threads and its descendants, those that ended and were waited for included."""
    total = 0
    for pid in descendants(root):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            total += sum(map(int, _stat(pid)[11:15]))
    return total / TICKS


def machine_busy_seconds():
    """What all cores together have worked; time stolen by the host is not ours, but it disturbs as well."""
    user, nice, system, _idle, _iowait, irq, softirq, steal = map(
        int, pathlib.Path("/proc/stat").read_text().split("\n")[0].split()[1:9])
    return (user + nice + system + irq + softirq + steal) / TICKS


def fdatasync_ms(directory):
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
    """Ends the process and its descendants, and only those, however the block is left."""
    try:
        yield process
    finally:
        family = descendants(process.pid) if process.poll() is None else []
        if process.poll() is None:
            process.send_signal(signal.SIGTERM)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(STOP_SECONDS_MAX)
        if process.poll() is None:
            # Workers first: they would outlive a killed parent.
            for pid in reversed(family):
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGKILL)
            process.wait()


def await_listening(process, port, log):
    end = time.monotonic() + START_SECONDS_MAX
    while time.monotonic() < end:
        if process.poll() is not None:
            raise BenchError(f"{process.args[0]} ended with {process.returncode} instead of listening:\n{log.read_text()[-2000:]}")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 1):
            return
        time.sleep(0.02)
    raise BenchError(f"{process.args[0]} does not listen on port {port}:\n{log.read_text()[-2000:]}")


def generate(generator, server, seconds, **options):
    """The generator's report; `options` are further options of it, as events=2000 for --events 2000."""
    command = [generator]
    for name, value in {"port": server.port, "path": server.path, "scheme": server.scheme, "secret": SECRET, "seconds": seconds,
                        "connections": CONNECTIONS, "duplicate_every": DUPLICATE_EVERY, **options}.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise BenchError(f"the generator ended with {done.returncode} against {server.name}")
    return json.loads(done.stdout)


def measure_work(server, work, companion=None):
    """One run of `work`, which puts the server under load and returns a report of it with its own CPU time. `companion` is the pid of a
    process that works for the server without being part of it, or None."""
    def readings():
        return [machine_busy_seconds(), time.monotonic(), tree_cpu_seconds(companion) if companion else 0.0,
                *(tree_cpu_seconds(pid) for pid in server.roots)]

    before = readings()
    run = work()
    machine, elapsed, companion_cpu, *root_cpu = (after - first for after, first in zip(readings(), before))
    run["server"] = server.name
    run["root_cpu_seconds"] = root_cpu  # in the order of the server's roots
    run["server_cpu_seconds"] = sum(root_cpu)
    run["foreign_cores"] = max(0.0, (machine - sum(root_cpu) - companion_cpu - run["cpu_seconds"]) / elapsed)
    if run["ok"] == 0:
        raise BenchError(f"{server.name} has answered nothing with 200")
    return run


def measure(generator, server, seconds, companion=None, **options):
    """measure_work() of one run of the generator."""
    return measure_work(server, lambda: generate(generator, server, seconds, **options), companion)
