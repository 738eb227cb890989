"""The commands as a person types them."""
import http.server
import json
import os
import re
import signal
import sqlite3
import subprocess
import threading
import urllib.parse

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import post

STRIPE = SECRETS["stripe"]


@pytest.fixture
def run(binary, tmp_path):
    def call(*arguments, gateway=None, **options):
        environment = {**os.environ, "NO_COLOR": "1"}
        if gateway:
            environment["HOOKONCE_ADMIN"] = f"http://{gateway.admin}"
        return subprocess.run([binary, *arguments], capture_output=True, text=True, timeout=120, check=False, cwd=tmp_path, env=environment,
                              stdin=subprocess.DEVNULL, **options)
    return call


@pytest.fixture
def sink(binary, tmp_path):
    running = []

    def begin(*arguments):
        process = subprocess.Popen([binary, "sink", "--listen", "127.0.0.1:0", *arguments], cwd=tmp_path, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, text=True)
        running.append(process)
        for line in process.stdout:
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            if found:
                return f"127.0.0.1:{found.group(1)}"
        raise AssertionError("the sink named no address")

    yield begin
    for process in running:
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        assert process.wait(60) == 0


COMMANDS = ["serve", "forward", "check", "send", "hammer", "sink", "verify", "events", "tail", "rejected", "show", "why", "replay", "store", "version"]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_a_complete_help(run, command):
    result = run(command, "--help")
    assert result.returncode == 0 and len(result.stdout) > 100, result
    assert command in run("--help").stdout


@pytest.mark.parametrize("arguments", [[], ["nonsense"], ["serve"], ["send", "stripe"], ["send", "nobody", "--to", "http://127.0.0.1:1/", "--secret", "x"],
                                       ["events", "--limit", "many"], ["send", "hmac", "--to", "http://127.0.0.1:1/", "--secret", "x"],
                                       ["hammer", "stripe", "--to", "http://203.0.113.1/", "--secret", "x"],
                                       ["forward", "token", "--secret", "x", "--to", "http://127.0.0.1:1/"]])
def test_wrong_usage_exits_2_and_says_why(run, arguments):
    result = run(*arguments)
    assert result.returncode == 2, result
    assert result.stderr or result.stdout


def test_version_names_the_libraries(run):
    result = run("version")
    assert result.returncode == 0
    assert re.match(r"hookonce \d+\.\d+\.\d+", result.stdout)
    assert re.search(r"^sqlite 3\.", result.stdout, re.MULTILINE) and re.search(r"^curl \d", result.stdout, re.MULTILINE)


def test_check_says_ok(run, tmp_path, backend):
    from support.gateway import to_toml
    (tmp_path / "good.toml").write_text(to_toml(config(backend.url, "stripe")))
    result = run("check", "--config", "good.toml")
    assert result.returncode == 0 and "ok" in result.stdout + result.stderr
    assert run("check", "--config", "absent.toml").returncode == 2


@pytest.mark.parametrize("provider", ["stripe", "slack", "github", "standard_webhooks", "svix"])
def test_send_makes_what_the_gateway_accepts(run, start, backend, provider):
    source = "standard_webhooks" if provider == "svix" else provider
    gateway = start(config(backend.url, source))
    result = run("send", provider, "--to", f"http://{gateway.ingest}/in/{source}", "--secret", SECRETS[source], "--times", "3", "--id", "id_1")
    assert result.returncode == 0, result
    events = gateway.events()
    assert [(event["key"], event["duplicates"]) for event in events] == [("id_1", 2)]
    gateway.wait_for_state(events[0]["id"], "delivered")


def test_send_exits_1_on_a_refusal(run, gateway):
    result = run("send", "stripe", "--to", f"http://{gateway.ingest}/in/stripe", "--secret", "whsec_wrong")
    assert result.returncode == 1 and "401" in result.stdout


def test_send_concurrently_with_retry_headers_and_a_body_from_a_file(run, gateway, tmp_path):
    (tmp_path / "body.json").write_bytes(senders.slack_body("EvFile"))
    result = run("send", "slack", "--to", f"http://{gateway.ingest}/in/slack", "--secret", SECRETS["slack"], "--body", "body.json",
                 "--times", "8", "--concurrent", "--retry-headers")
    assert result.returncode == 0, result
    event = gateway.event(gateway.events(key="EvFile")[0]["id"])
    assert event["duplicates"] == 7
    assert any(arrival["retry"] for arrival in event["arrivals"])


def test_hammer_passes_with_the_gateway_in_front_and_fails_a_naive_backend(run, start, sink):
    backend = sink()
    gateway = start(config(f"http://{backend}/", "stripe"))
    good = run("hammer", "stripe", "--to", f"http://{gateway.ingest}/in/stripe", "--secret", STRIPE, "--events", "5", "--copies", "16",
               "--effects", f"http://{backend}/effects")
    assert good.returncode == 0, good
    naive = run("hammer", "stripe", "--to", f"http://{backend}/", "--secret", STRIPE, "--events", "3", "--copies", "4",
                "--effects", f"http://{backend}/effects")
    assert naive.returncode == 1, naive


def test_the_sink_fails_first_counts_effects_and_shows_requests(run, sink):
    import urllib.request
    address = sink("--fail-first", "2")
    codes = [post(address, "/x", senders.stripe(STRIPE, "evt_sink")).status for _ in range(4)]
    assert codes == [500, 500, 200, 200]
    assert json.load(urllib.request.urlopen(f"http://{address}/effects")) == {"evt_sink": 2}
    requests = json.load(urllib.request.urlopen(f"http://{address}/requests"))
    assert [r["status"] for r in requests] == [500, 500, 200, 200]
    assert set(requests[0]) == {"method", "path", "headers", "body_base64", "status", "received_at"}


def test_verify_says_why_a_captured_request_fails(run, tmp_path):
    from support.http_client import request_bytes
    (tmp_path / "good.http").write_bytes(request_bytes("POST", "/in/stripe", *senders.stripe(STRIPE, "evt_v", at=1790000000)))
    good = run("verify", "stripe", "--secret", STRIPE, "--now", "1790000000", "--request", "good.http")
    assert good.returncode == 0, good
    stale = run("verify", "stripe", "--secret", STRIPE, "--now", "1790009999", "--request", "good.http")
    assert stale.returncode == 1 and "timestamp" in (stale.stdout + stale.stderr)
    wrong = run("verify", "stripe", "--secret", "whsec_x", "--now", "1790000000", "--request", "good.http")
    assert wrong.returncode == 1 and "signature_mismatch" in (wrong.stdout + wrong.stderr)


@pytest.mark.parametrize("provider", ["slack", "stripe", "github", "standard_webhooks", "svix"])
def test_the_vectors_pass_through_verify(run, provider):
    import pathlib
    file = pathlib.Path(__file__).resolve().parent.parent / "vectors" / f"{provider}.json"
    wanted = {vector["id"]: vector["expect"] for vector in json.loads(file.read_text())["vectors"]}
    result = run("verify", provider, "--vectors", str(file))
    assert result.returncode == 0, result
    lines = {line["id"]: line for line in map(json.loads, result.stdout.splitlines())}
    assert set(lines) == set(wanted)
    for name, line in lines.items():
        assert set(line) == {"id", "valid", "reason", "kind", "event_id", "event_type", "dedup_key", "ordering_key"}
        assert line["valid"] == wanted[name]["valid"], name


def test_verify_vectors_exits_1_when_one_differs(run, tmp_path):
    import pathlib
    vectors = json.loads((pathlib.Path(__file__).resolve().parent.parent / "vectors" / "stripe.json").read_text())
    vectors["vectors"][0]["expect"]["event_id"] = "evt_something_else"
    (tmp_path / "changed.json").write_text(json.dumps(vectors))
    assert run("verify", "stripe", "--vectors", "changed.json").returncode == 1


def test_events_show_and_replay(run, gateway, backend):
    event_id = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_cli")).json()["id"]
    gateway.wait_for_state(event_id, "delivered")
    listed = run("events", gateway=gateway)
    assert listed.returncode == 0 and "evt_cli" in listed.stdout and "invoice.paid" in listed.stdout
    rows = json.loads(run("events", "--json", "--source", "stripe", "--since", "1h", gateway=gateway).stdout)
    rows = rows["items"] if isinstance(rows, dict) else rows
    assert [row["key"] for row in rows] == ["evt_cli"]
    for name in (event_id, "evt_cli"):
        shown = run("show", name, gateway=gateway)
        assert shown.returncode == 0 and event_id in shown.stdout and "delivered" in shown.stdout
    assert run("show", "evt_absent", gateway=gateway).returncode == 1
    assert run("replay", event_id, gateway=gateway).returncode == 0
    backend.wait_for(2)
    asked = run("replay", "--source", "stripe", gateway=gateway)
    assert asked.returncode == 2 and "--yes" in asked.stderr
    assert run("replay", "--source", "stripe", "--yes", gateway=gateway).returncode == 0
    backend.wait_for(3)


@pytest.mark.parametrize("arguments", [["replay", ""], ["show", ""], ["events", "--source", ""], ["replay", "evt_only", "--destination", ""],
                                       ["replay", "--key", "", "--since", "1h", "--yes"]])
def test_an_empty_value_never_means_every_event(run, gateway, arguments):
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_only")).status == 200
    result = run(*arguments, gateway=gateway)
    assert result.returncode == 2 and "is empty" in result.stderr, result


def test_an_event_that_is_named_twice_is_replayed_once(run, gateway, backend):
    event_id = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_named")).json()["id"]
    gateway.wait_for_state(event_id, "delivered")
    result = run("replay", "evt_named", event_id, "evt_named", "--json", gateway=gateway)
    assert result.returncode == 0 and len(json.loads(result.stdout)["deliveries"]) == 1, result
    backend.wait_for(2)


def test_show_by_an_id_that_several_events_have_lists_them(run, start, backend):
    tables = config(backend.url, "github")
    tables["sources"]["second"] = {**tables["sources"]["github"]}
    gateway = start(tables)
    ids = [post(gateway.ingest, f"/in/{source}", senders.github(SECRETS["github"], "guid-two")).json()["id"] for source in ("github", "second")]
    shown = run("show", "guid-two", gateway=gateway)
    assert shown.returncode == 1
    assert all(event_id in shown.stdout + shown.stderr for event_id in ids)


def test_without_a_gateway_the_client_commands_say_so(run):
    result = run("events", "--admin", "http://127.0.0.1:1")
    assert result.returncode == 1 and "127.0.0.1:1" in result.stderr


def test_a_backup_of_a_running_gateway_is_a_whole_inbox(run, start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe"))
    for number in range(10):
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_backup_{number}"))
    result = run("store", "backup", "copy.db", "--from", "sqlite:inbox.db")
    assert result.returncode == 0, result
    database = sqlite3.connect(tmp_path / "copy.db")
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    assert database.execute("SELECT count(*) FROM events").fetchone() == (10,)
    database.close()
    assert run("store", "backup", "copy.db", "--from", "sqlite:inbox.db").returncode != 0, "an existing file is not overwritten"


def test_forward_needs_no_configuration_file(binary, tmp_path, backend):
    process = subprocess.Popen([binary, "forward", "stripe", "--secret", STRIPE, "--to", backend.url, "--listen", "127.0.0.1:0"], cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = None
        for line in process.stdout:
            found = re.search(r"ingest=(127\.0\.0\.1:\d+)", line) or re.search(r"http://(127\.0\.0\.1:\d+)", line)
            if found:
                address = found.group(1)
                break
        assert post(address, "/", senders.stripe(STRIPE, "evt_forward")).status == 200
        backend.wait_until(lambda: "evt_forward" in backend.effects)
        assert any("evt_forward" in line for line in iter(process.stdout.readline, ""))
    finally:
        process.send_signal(signal.SIGTERM)
        process.stdout.read()
        assert process.wait(60) == 0
    assert (tmp_path / "hookonce-stripe.db").exists()


def test_forward_tells_each_refusal_once(binary, tmp_path):
    process = subprocess.Popen([binary, "forward", "stripe", "--secret", STRIPE, "--to", "http://127.0.0.1:1/", "--listen", "127.0.0.1:0"],
                               cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = re.search(r"ingest=(127\.0\.0\.1:\d+)", process.stdout.readline()).group(1)
        assert post(address, "/", senders.stripe("whsec_of_another", "evt_forged")).status == 401
    finally:
        process.send_signal(signal.SIGTERM)
        lines = process.stdout.read()
        assert process.wait(60) == 0
    assert lines.count("signature_mismatch") == 1, lines


def test_forward_tells_what_is_wrong_with_a_refused_request(binary, tmp_path):
    process = subprocess.Popen([binary, "forward", "stripe", "--secret", STRIPE, "--to", "http://127.0.0.1:1/", "--listen", "127.0.0.1:0",
                                "--log-level", "info"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    try:
        address = next(match.group(1) for line in iter(process.stdout.readline, "")
                       if (match := re.search(r"ready ingest=(127\.0\.0\.1:\d+)", line)))
        headers, body = senders.stripe(STRIPE, "evt_changed")
        assert post(address, "/", (headers, json.dumps(json.loads(body)).encode())).status == 401
        told = next(line for line in iter(process.stdout.readline, "") if "changed after signing" in line)
        assert re.search(r"  because     stripe  the body was changed after signing: the signature fits the same JSON indented by two blanks", told), told
    finally:
        process.send_signal(signal.SIGTERM)
        lines = process.stdout.read()
        assert process.wait(60) == 0
    assert "changed after signing" not in lines, "once, not in the log too"


def test_events_goes_on_behind_a_page_on_which_nothing_was_found(binary):
    """A call of the admin API looks for a while only, so an empty page need not be the last."""
    pages = {"": {"items": [], "next_cursor": "9", "searched_until": "2026-01-02T03:04:05.678Z"},
             "9": {"items": [{"id": "a", "source": "s", "type": "t", "key": "k", "received_at": "2026-01-02T03:04:05.678Z", "state": "dead",
                              "duplicates": 0, "size": 1}], "next_cursor": None, "searched_until": None}}

    class Api(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            cursor = urllib.parse.parse_qs(urllib.parse.urlsplit(self.path).query).get("cursor", [""])[0]
            body = json.dumps(pages[cursor]).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Api) as api:
        thread = threading.Thread(target=api.serve_forever)
        thread.start()
        try:
            done = subprocess.run([binary, "events", "--type", "t", "--json", "--admin", f"http://127.0.0.1:{api.server_port}"],
                                  capture_output=True, text=True, timeout=60, check=False)
        finally:
            api.shutdown()
            thread.join()
    assert done.returncode == 0, done.stderr
    assert [item["id"] for item in json.loads(done.stdout)["items"]] == ["a"]
