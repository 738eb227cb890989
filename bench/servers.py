"""The servers that the benchmark puts under load: the gateway, and nginx as the bound for any HTTP server.

Each is a context manager that yields a load.Server and stops what it started when it is left.
"""
import contextlib
import json
import shutil
import subprocess
import time
import urllib.request

from load import SECRET, BenchError, Server, await_listening, free_port, stopping


@contextlib.contextmanager
def nginx(directory, name="nginx", logged=False):
    """A one-worker nginx that answers 200 to everything. With `logged` it writes the id of each event that came and when, by the wall
    clock, to directory/NAME.log (at once, since a buffer would hide the first)."""
    binary = shutil.which("nginx") or shutil.which("nginx", path="/usr/sbin")
    if binary is None:
        raise BenchError("nginx is not installed (./x bench installs it: nginx-light)")
    home = directory / name
    home.mkdir()
    port = free_port()
    log = f"{directory}/{name}.log received" if logged else "off"
    (home / "nginx.conf").write_text(f"""
daemon off; master_process off; worker_processes 1; pid {home}/pid; error_log {home}/error.log;
events {{ worker_connections 1024; }}
http {{
  log_format received '$http_hookonce_event $msec'; access_log {log};
  keepalive_requests 1000000000; client_body_temp_path {home}/body;
  proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/fastcgi; uwsgi_temp_path {home}/uwsgi; scgi_temp_path {home}/scgi;
  server {{ listen 127.0.0.1:{port} backlog=1024; location / {{ return 200 "ok\\n"; }} }}
}}
""")
    process = subprocess.Popen([binary, "-p", str(home), "-c", str(home / "nginx.conf"), "-e", str(home / "error.log")],
                               stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    with stopping(process):
        await_listening(process, port, home / "error.log")
        yield Server(name, port, [process.pid])
    shutil.rmtree(home)


def configuration(store, destination):
    """Source `stripe` has a destination that takes every event; what `unwanted` takes is stored and delivered nowhere."""
    return f"""
[server]
listen = "127.0.0.1:0"
admin = "127.0.0.1:0"
[store]
url = "{store}"
[sources.stripe]
provider = "stripe"
secrets = ["{SECRET}"]
destinations = ["backend"]
[sources.unwanted]
provider = "stripe"
secrets = ["{SECRET}"]
destinations = [{{ name = "backend", types = ["never.sent"] }}]
[destinations.backend]
{destination}
"""


# The deliveries are written and wait: a token an hour lets one attempt out, at the very first event, and no more. Nobody listens there.
HELD = 'url = "http://127.0.0.1:9/"\nrate = "1/h"'


@contextlib.contextmanager
def hookonce(binary, directory, destination=HELD, name="hookonce", store=None):
    """A gateway on the inbox at `store`, or else in directory/NAME, which is made where it is not there yet and stays behind."""
    home = directory / name
    home.mkdir(exist_ok=True)
    (home / "hookonce.toml").write_text(configuration(store or f"sqlite:{home}/inbox.db", destination))
    with open(home / "log", "wb") as log:
        process = subprocess.Popen([binary, "serve", "--config", str(home / "hookonce.toml")], stdout=subprocess.PIPE,
                                   stderr=log, text=True)
    with stopping(process):
        ready = process.stdout.readline()
        if not ready.startswith("hookonce: ready "):
            raise BenchError(f"hookonce did not start: {(home / 'log').read_text()[-2000:]}")
        addresses = dict(word.split("=", 1) for word in ready.split()[2:])
        yield Server(name, int(addresses["ingest"].rsplit(":", 1)[1]), [process.pid], admin=addresses["admin"])


def _deliveries_wait(admin):
    """An event is pending while any delivery of it is pending or in flight."""
    with urllib.request.urlopen(f"http://{admin}/api/v1/events?state=pending&limit=1", timeout=30) as answer:
        page = json.load(answer)
        return bool(page["items"]) or page["next_cursor"] is not None  # an empty page need not be the last


def await_delivered(server, seconds_max):
    """Whether no delivery waits any more before the time is over."""
    end = time.monotonic() + seconds_max
    while _deliveries_wait(server.admin):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True


def metric(server, name):
    """The value of the one line of /metrics that begins with `name`, or None where there is none."""
    with urllib.request.urlopen(f"http://{server.admin}/metrics", timeout=30) as answer:
        for line in answer.read().decode().split("\n"):
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
    return None
