"""Start, reload, drain, restart, and an inbox that is in trouble."""
import contextlib
import os
import shutil
import signal
import socket
import sqlite3
import subprocess
import threading

import pytest

from support import senders
from support.gateway import SECRETS, config
from support.http_client import Connection, post, request, request_bytes

STRIPE, SLACK = SECRETS["stripe"], SECRETS["slack"]


def serve(binary, directory, tables=None, text=None):
    """Runs `serve` to its end, for configurations that must not start."""
    from support.gateway import to_toml
    (directory / "hookonce.toml").write_text(text if text is not None else to_toml(tables))
    return subprocess.run([binary, "serve", "--config", "hookonce.toml"], cwd=directory, capture_output=True, text=True, timeout=60, check=False)


def test_what_was_accepted_before_a_kill_is_delivered_after_the_restart(start, backend):
    backend.answer_with(lambda r, nth: 500)
    gateway = start(config(backend.url, "stripe", destination={"retry": {"first": "50ms", "max": "50ms", "attempts": 1000}}))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_kept"))
    backend.wait_for(1)
    gateway.kill()
    backend.answer_with(lambda r, nth: 200)
    gateway.start()
    gateway.wait_for_state(answer.json()["id"], "delivered")
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_kept")).json()["status"] == "duplicate"
    numbers = [int(r.header("Hookonce-Attempt")) for r in backend.requests]
    assert len(set(numbers)) == len(numbers), "an attempt number was used twice"


def test_an_attempt_in_flight_at_a_kill_is_shown_as_unknown(start, backend):
    first = threading.Event()
    release = threading.Event()

    def slow(request_, nth):
        if nth == 1:
            first.set()
            release.wait(60)
        return 200

    backend.answer_with(slow)
    gateway = start(config(backend.url, "stripe", destination={"timeout": "50s"}))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_inflight"))
    assert first.wait(60)
    gateway.kill()
    release.set()
    gateway.start()
    event = gateway.wait_for_state(answer.json()["id"], "delivered")
    assert [(a["number"], a["outcome"]) for a in event["deliveries"][0]["attempts"]] == [(1, "unknown"), (2, "success")]


def test_a_drain_answers_503_finishes_attempts_and_exits_0(start, backend):
    entered, release = threading.Event(), threading.Event()

    def slow(request_, nth):
        entered.set()
        release.wait(60)
        return 200

    backend.answer_with(slow)
    gateway = start(config(backend.url, "stripe", destination={"timeout": "50s"}))
    with Connection(gateway.ingest) as connection:
        connection.send(request_bytes("POST", "/in/stripe", *senders.stripe(STRIPE, "evt_drain")))
        assert connection.answer().status == 200
        assert entered.wait(60)
        gateway.process.send_signal(signal.SIGTERM)
        gateway.wait_until(lambda: request(gateway.admin, "GET", "/readyz").status == 503)
        connection.send(request_bytes("POST", "/in/stripe", *senders.stripe(STRIPE, "evt_late")))
        answer = connection.answer()
        assert (answer.status, answer.code) == (503, "draining")
        assert answer.header("Connection").lower() == "close"
        assert answer.header("Retry-After")
        assert connection.at_end()
    release.set()
    assert gateway.process.wait(60) == 0, "one signal drains, and a drain is a success"
    gateway.process.stdout.close()
    gateway.start()
    events = gateway.events()
    assert [(e["key"], e["state"]) for e in events] == [("evt_drain", "delivered")]


def test_attempts_that_outlast_the_drain_are_released_uncounted(start, backend):
    entered, release = threading.Event(), threading.Event()

    def slow(request_, nth):
        entered.set()
        if nth == 1:
            release.wait(60)
        return 200

    backend.answer_with(slow)
    gateway = start(config(backend.url, "stripe", server={"drain": "100ms"}, destination={"timeout": "50s"}))
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_released"))
    assert entered.wait(60)
    gateway.stop(expected=0)
    release.set()
    gateway.start()
    event = gateway.wait_for_state(answer.json()["id"], "delivered")
    assert [(a["number"], a["outcome"]) for a in event["deliveries"][0]["attempts"]] == [(1, "released"), (2, "success")]


def test_the_log_names_the_inbox_whole_because_the_configured_path_is_relative(start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe"))
    assert f"store.opened file={tmp_path.resolve() / 'inbox.db'}" in gateway.log()


def test_a_second_gateway_on_the_same_inbox_is_refused(start, backend, binary, tmp_path):
    start(config(backend.url, "stripe"))
    second = tmp_path / "second"
    second.mkdir()
    result = serve(binary, second, config(backend.url, "stripe", store={"url": f"sqlite:{tmp_path}/inbox.db"}))
    assert result.returncode == 2, result
    assert "inbox.db" in result.stderr and result.stdout == ""


def test_a_bad_reload_is_refused_whole_and_a_good_one_is_taken(start, backend):
    gateway = start(config(backend.url, "stripe"))
    gateway.configure("[sources.stripe]\nprovidr = 1\n")
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_until(lambda: "providr" in gateway.log())
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_old")).status == 200
    gateway.configure(config(backend.url, "stripe", "slack"))
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_until(lambda: post(gateway.ingest, "/in/slack", senders.slack(SLACK, "EvNew")).status == 200)


def test_a_reload_that_moves_the_listener_is_refused_by_name(start, backend):
    gateway = start(config(backend.url, "stripe"))
    gateway.configure(config(backend.url, "stripe", server={"listen": "127.0.0.1:1"}))
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_until(lambda: "restart" in gateway.log() and "listen" in gateway.log())
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_same")).status == 200


def test_deliveries_of_a_removed_destination_wait_as_orphaned_and_go_on_when_it_returns(start, backend):
    gate = threading.Event()
    backend.answer_with(lambda r, nth: 200 if gate.is_set() else 500)
    tables = config(backend.url, "stripe", destination={"retry": {"first": "50ms", "max": "50ms", "attempts": 10000}})
    gateway = start(tables)
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_orphan"))
    backend.wait_for(1)
    other = config(backend.url, "stripe")
    other["destinations"] = {"other": {"url": backend.url}}
    other["sources"]["stripe"]["destinations"] = ["other"]
    gateway.configure(other)
    gateway.process.send_signal(signal.SIGHUP)
    delivery = gateway.wait_until(lambda: next((d for d in gateway.event(answer.json()["id"])["deliveries"] if d["orphaned"]), None))
    assert (delivery["destination"], delivery["state"]) in [("backend", "pending"), ("backend", "in_flight")]
    gate.set()
    gateway.configure(tables)
    gateway.process.send_signal(signal.SIGHUP)
    gateway.wait_for_state(answer.json()["id"], "delivered")


def test_a_configuration_with_three_mistakes_names_all_three(binary, tmp_path):
    text = """[server]
listen = "127.0.0.1:99999"

[sources.stripe]
provider = "stripe"
secret = "whsec_x"
destinations = ["backend"]

[destinations.backend]
url = "http://127.0.0.1:9/"
timeout = "10s"
lease = "12s"
"""
    result = serve(binary, tmp_path, text=text)
    assert result.returncode == 2
    for place in ("hookonce.toml:2: server.listen", "hookonce.toml:6: sources.stripe.secret", "hookonce.toml:12: destinations.backend.lease"):
        assert place in result.stderr, result.stderr
    assert "did you mean `secrets`" in result.stderr
    check = subprocess.run([binary, "check", "--config", "hookonce.toml"], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert check.returncode == 2


def test_a_feature_of_another_version_is_refused_by_name(binary, tmp_path, backend):
    tables = config(backend.url, "stripe")
    tables["sources"]["stripe"]["provider"] = "carrier_pigeon"
    result = serve(binary, tmp_path, tables)
    assert result.returncode == 2 and "carrier_pigeon" in result.stderr, result
    result = serve(binary, tmp_path, config(backend.url, "stripe", store={"url": "mysql://127.0.0.1/"}))
    assert result.returncode == 2 and "mysql" in result.stderr


@pytest.mark.parametrize("content", [b"this is no database, just some text of a person\n" * 100, "foreign"])
def test_a_file_that_is_not_ours_is_refused_and_left_alone(binary, tmp_path, backend, content):
    path = tmp_path / "inbox.db"
    if content == "foreign":
        with sqlite3.connect(path) as database:
            database.execute("CREATE TABLE guests (name TEXT)")
        database.close()
    else:
        path.write_bytes(content)
    before = path.read_bytes()
    result = serve(binary, tmp_path, config(backend.url, "stripe"))
    assert result.returncode == 2 and "inbox.db" in result.stderr, result
    assert path.read_bytes() == before


def test_a_newer_schema_is_refused(start, binary, backend, tmp_path):
    gateway = start(config(backend.url, "stripe"))
    gateway.stop()
    database = sqlite3.connect(tmp_path / "inbox.db")
    database.execute("PRAGMA user_version = 9999")
    database.commit()
    database.close()
    result = serve(binary, tmp_path, config(backend.url, "stripe"))
    assert result.returncode == 2 and "newer" in result.stderr, result


def test_a_foreign_writer_that_holds_the_lock_is_waited_out(start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe"))
    foreign = sqlite3.connect(tmp_path / "inbox.db", isolation_level=None, check_same_thread=False)
    foreign.execute("BEGIN IMMEDIATE")
    timer = threading.Timer(0.5, lambda: foreign.execute("COMMIT"))
    timer.start()
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_waited"))
    assert (answer.status, answer.header("Hookonce-Status")) == (200, "accepted")
    timer.join()
    foreign.close()


def test_a_foreign_writer_that_never_lets_go_means_503_and_nothing_is_lost(start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe", source={"ack_deadline": "500ms"}))
    foreign = sqlite3.connect(tmp_path / "inbox.db", isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_stuck"))
    assert (answer.status, answer.code) == (503, "store_unavailable")
    assert answer.header("Retry-After")
    foreign.execute("ROLLBACK")
    foreign.close()
    again = gateway.wait_until(lambda: (lambda a: a if a.status == 200 else None)(
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_stuck"))))
    gateway.wait_for_state(again.json()["id"], "delivered")
    assert [r.provider_id for r in backend.requests] == ["evt_stuck"]


def test_while_a_foreign_writer_holds_the_lock_readyz_says_so_and_duplicates_are_answered_in_time(start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe"))
    first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_before"))
    gateway.wait_for_state(first.json()["id"], "delivered")
    foreign = sqlite3.connect(tmp_path / "inbox.db", isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_new")).status == 503
    for address in (gateway.ingest, gateway.admin):
        assert request(address, "GET", "/readyz").status == 503
    for _ in range(3):
        again = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_before"))
        assert (again.status, again.json()) == (200, {"status": "duplicate", "id": first.json()["id"]})
    foreign.execute("ROLLBACK")
    foreign.close()
    gateway.wait_until(lambda: request(gateway.ingest, "GET", "/readyz").status == 200)
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_new")).status == 200


@pytest.mark.parametrize("gone", ["inbox.db", "inbox.db-wal"])
def test_an_inbox_that_is_removed_under_the_gateway_takes_no_event_and_ends_it(start, backend, tmp_path, gone):
    gateway = start(config(backend.url, "stripe"))
    assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_kept")).status == 200
    (tmp_path / gone).rename(tmp_path / "moved")
    with contextlib.suppress(OSError):  # it may have noticed first, and be gone
        assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_lost")).status == 503
    assert gateway.process.wait(timeout=20) == 1
    assert "removed or replaced" in gateway.log()
    (tmp_path / "moved").rename(tmp_path / gone)
    gateway.start()
    assert [event["key"] for event in gateway.events()][-1] == "evt_kept"


def small_disk(directory, size):
    """A wrapper that runs a command with a file system of its own at `directory`."""
    return ["unshare", "--mount", "--propagation", "private", "sh", "-c", f'mount -t tmpfs -o size={size} none "{directory}" && cd "{directory}" && '
            f'cp "$OLDPWD/hookonce.toml" . && exec "$0" "$@"']


def can_mount():
    return shutil.which("unshare") and subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode == 0


needs_mount = pytest.mark.skipif(not can_mount(), reason="needs the right to mount (root)")


@needs_mount
def test_a_full_disk_means_503_and_the_gateway_comes_back_when_there_is_room(start, backend, tmp_path):
    disk = tmp_path / "disk"
    disk.mkdir()
    backend.answer_with(lambda r, nth: 200)
    gateway = start(config(backend.url, "stripe"), wrapper=small_disk(disk, "6m"))
    root = f"/proc/{gateway.process.pid}/root{disk}"
    with open(f"{root}/filler", "wb") as filler:
        try:
            while True:
                filler.write(b"x" * 65536)
                filler.flush()
        except OSError:
            pass
    pad = {"pad": "x" * 200000}
    refused = None
    accepted = []
    for number in range(200):
        answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_full_{number}", body=senders.stripe_body(f"evt_full_{number}", **pad)))
        if answer.status != 200:
            refused = (number, answer)
            break
        accepted.append(answer.json()["id"])
    assert refused, "the disk never filled up"
    assert (refused[1].status, refused[1].code) == (503, "store_unavailable")
    assert request(gateway.ingest, "GET", "/healthz").status == 200
    os.unlink(f"{root}/filler")
    again = gateway.wait_until(lambda: (lambda a: a if a.status == 200 else None)(
        post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_full_{refused[0]}"))))
    for event_id in accepted + [again.json()["id"]]:
        gateway.wait_for_state(event_id, "delivered")


@needs_mount
def test_a_read_only_mount_is_refused_by_name(binary, tmp_path, backend):
    from support.gateway import to_toml
    place = tmp_path / "place"
    place.mkdir()
    (place / "hookonce.toml").write_text(to_toml(config(backend.url, "stripe")))
    script = f'mount --bind "{place}" "{place}" && mount -o remount,ro,bind "{place}" && cd "{place}" && exec "{binary}" serve --config hookonce.toml'
    result = subprocess.run(["unshare", "--mount", "--propagation", "private", "sh", "-c", script], capture_output=True, text=True, timeout=60, check=False)
    assert result.returncode == 2, result
    assert "read-only" in result.stderr.lower() and "inbox.db" in result.stderr


def test_tls_from_files(start, backend, tmp_path):
    made = subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "key.pem", "-out", "cert.pem", "-days", "2",
                           "-subj", "/CN=localhost"], cwd=tmp_path, capture_output=True, check=False)
    assert made.returncode == 0, made
    gateway = start(config(backend.url, "stripe", server={"tls_cert": "cert.pem", "tls_key": "key.pem"}))
    import ssl
    context = ssl.create_default_context(cafile=tmp_path / "cert.pem")
    context.check_hostname = False
    with Connection(gateway.ingest) as connection:
        connection.socket = context.wrap_socket(connection.socket, server_hostname="localhost")
        connection.send(request_bytes("POST", "/in/stripe", *senders.stripe(STRIPE, "evt_tls")))
        assert connection.answer().header("Hookonce-Status") == "accepted"
    with Connection(gateway.ingest) as connection:
        connection.send(b"POST / HTTP/1.1\r\nHost: a\r\n\r\n")
        assert connection.at_end()
    assert request(gateway.admin, "GET", "/healthz").status == 200


def test_secrets_never_show_in_logs_or_answers(start, backend):
    gateway = start(config(backend.url, "stripe", "slack"))
    post(gateway.ingest, "/in/stripe", senders.stripe("whsec_wrong00000000000000000000000", "evt_x"))
    post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_x"))
    gateway.wait_until(lambda: all(fact in gateway.log() for fact in ("rejected ", "accepted ", "delivered ")))
    texts = [gateway.log()] + [gateway.api("GET", f"/api/v1/{page}").body.decode() for page in ("sources", "destinations", "stats", "events")]
    for text in texts:
        assert STRIPE not in text and SLACK not in text


def test_several_listeners_and_a_port_in_use(start, backend, binary, tmp_path):
    gateway = start(config(backend.url, "stripe", server={"listen": ["127.0.0.1:0", "[::1]:0"]}))
    assert len(gateway.ingest_all) == 2
    for address in gateway.ingest_all:
        assert request(address, "GET", "/healthz").status == 200
    other = tmp_path / "other"
    other.mkdir()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = "127.0.0.1:%d" % taken.getsockname()[1]
        result = serve(binary, other, config(backend.url, "stripe", server={"listen": address}))
    assert result.returncode == 2 and address in result.stderr, result


def test_a_duplicate_is_answered_200_though_its_record_cannot_be_written(start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe", source={"ack_deadline": "10s"}))
    first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_known"))
    gateway.wait_for_state(first.json()["id"], "delivered")
    foreign = sqlite3.connect(tmp_path / "inbox.db", isolation_level=None)
    foreign.execute("BEGIN IMMEDIATE")
    again = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_known"))
    assert (again.status, again.json()) == (200, {"status": "duplicate", "id": first.json()["id"]})
    foreign.execute("ROLLBACK")
    foreign.close()


def test_a_foreign_reader_does_not_keep_the_gateway_from_starting(start, backend, tmp_path):
    gateway = start(config(backend.url, "stripe"))
    first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_before"))
    reader = sqlite3.connect(tmp_path / "inbox.db", isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM events").fetchone()
    post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_behind_the_snapshot"))
    gateway.kill()
    gateway.start()
    assert "store.log_kept" in gateway.log()
    for name in ("evt_before", "evt_behind_the_snapshot"):
        assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, name)).json()["status"] == "duplicate"
    gateway.wait_for_state(first.json()["id"], "delivered")
    reader.close()
