"""The real binary as a test uses it: own directory, own ports, configuration from a dictionary, stopped by its process id.

    with Gateway(binary, directory, config(backend.url, "stripe")) as gateway:
        answer = post(gateway.ingest, "/in/stripe", senders.stripe(SECRET, "evt_1"))
"""
import itertools
import json
import os
import pathlib
import select
import signal
import subprocess
import threading
import time
from urllib.parse import quote

from support import http_client

START_SECONDS = 60   # bounds for a broken program, never a pace
WAIT_SECONDS = 60
SECRETS = {
    "stripe": "whsec_sample0000000000000000000000",
    "slack": "sample-signing-secret",
    "github": "sample-webhook-secret",
    "standard_webhooks": "whsec_c2FtcGxlLXNlY3JldC1mb3ItdGVzdHMtb25seQ==",
}


def config(backend_url, *providers, source=None, destination=None, **tables):
    """A configuration with one source per provider and one destination "backend"; `source` and `destination` add keys."""
    return {
        "server": {"listen": "127.0.0.1:0", "admin": "127.0.0.1:0", **tables.get("server", {})},
        "store": {"url": "sqlite:inbox.db", **tables.get("store", {})},
        "sources": {name: {"provider": name, "secrets": [SECRETS[name]], "destinations": ["backend"], **(source or {})}
                    for name in providers},
        "destinations": {"backend": {"url": backend_url, **(destination or {})}},
    }


def _toml_value(value):
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{json.dumps(k)} = {_toml_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list):
        return "[" + ", ".join(_toml_value(v) for v in value) + "]"
    return json.dumps(value, ensure_ascii=False)


def to_toml(tables, prefix=""):
    lines = []
    for name, table in tables.items():
        nested = prefix == "" and name in ("sources", "destinations")
        if nested:
            lines.append(to_toml(table, name + "."))
        else:
            lines.append(f"[{prefix}{name}]")
            lines += [f"{key} = {_toml_value(value)}" for key, value in table.items()]
            lines.append("")
    return "\n".join(lines)


class Gateway:
    def __init__(self, binary, directory, tables, environment=None, wrapper=()):
        self.binary = str(pathlib.Path(binary).resolve())
        self.directory = pathlib.Path(directory)
        self.environment = {**os.environ, **(environment or {})}
        self.wrapper = list(wrapper)
        self.log_file = self.directory / "gateway.log"
        self.process = None
        self.ingest = self.admin = None
        self.configure(tables)
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def configure(self, tables):
        self.tables = tables
        (self.directory / "hookonce.toml").write_text(tables if isinstance(tables, str) else to_toml(tables))

    def start(self):
        self.launch()
        assert self.ready_within(START_SECONDS), f"no ready line in time; log:\n{self.log()}"

    def launch(self):
        """Starts the process and waits for nothing."""
        log = open(self.log_file, "ab")
        self.process = subprocess.Popen(self.wrapper + [self.binary, "serve", "--config", "hookonce.toml"], cwd=self.directory,
                                        env=self.environment, stdout=subprocess.PIPE, stderr=log)
        log.close()

    def ready_within(self, seconds):
        """Whether the launched process says in time that it is ready; then `ingest` and `admin` are known."""
        if not select.select([self.process.stdout], [], [], seconds)[0]:
            return False
        line = self.process.stdout.readline().decode()
        assert line.startswith("hookonce: ready "), f"no ready line but {line!r}; log:\n{self.log()}"
        fields = dict(part.split("=", 1) for part in line.split()[2:])
        self.ingest_all = fields["ingest"].split(",")
        self.ingest = self.ingest_all[0]
        self.admin = fields["admin"]
        return True

    def log(self):
        return self.log_file.read_text(errors="replace")[-20000:]

    def kill(self):
        """As power loss would end it: no drain."""
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self, expected=0):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
                raise AssertionError(f"the gateway did not drain; log:\n{self.log()}")
        if not self.process.stdout.closed:
            self.process.stdout.close()
            assert expected is None or self.process.returncode in (expected, -signal.SIGKILL), \
                f"exit {self.process.returncode}; log:\n{self.log()}"

    def api(self, method, path, body=None, headers=()):
        headers = list(headers)
        data = b""
        if body is not None:
            data = json.dumps(body).encode()
            headers.append(("Content-Type", "application/json"))
        return http_client.request(self.admin, method, path, headers, data)

    def events(self, **filters):
        """The newest 500."""
        return list(itertools.islice(self.all_events(**filters), 500))

    def all_events(self, **filters):
        """Every event, page by page; one may be empty and not the last."""
        query = "".join(f"&{name}={quote(str(value))}" for name, value in filters.items())
        cursor = ""
        while cursor is not None:
            answer = self.api("GET", f"/api/v1/events?limit=500{query}" + (f"&cursor={quote(cursor)}" if cursor else ""))
            assert answer.status == 200, answer
            page = answer.json()
            yield from page["items"]
            cursor = page["next_cursor"]

    def event(self, event_id):
        answer = self.api("GET", f"/api/v1/events/{event_id}")
        assert answer.status == 200, answer
        return answer.json()

    def wait_for_state(self, event_id, state, seconds=WAIT_SECONDS):
        """Until the event's state is `state`. The API has no way to await it, so this looks again and again."""
        return self.wait_until(lambda: (lambda e: e if e["state"] == state else None)(self.event(event_id)), seconds)

    def wait_until(self, look, seconds=WAIT_SECONDS):
        end = time.monotonic() + seconds
        while True:
            found = look()
            if found:
                return found
            assert time.monotonic() < end, f"waited in vain; log:\n{self.log()}"
            threading.Event().wait(0.01)

    def metric(self, name):
        text = http_client.request(self.admin, "GET", "/metrics").body.decode()
        return sum(float(line.rsplit(" ", 1)[1]) for line in text.split("\n")
                   if line.startswith(name) and line[len(name):len(name) + 1] in (" ", "{"))
