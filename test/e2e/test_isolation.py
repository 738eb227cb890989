"""Bad destinations: each fails with a reason that names what is wrong, and nothing else waits for it."""
import json
import os
import socket
import ssl
import subprocess
import threading
import time

import pytest

from support import hanging_names, senders
from support.backend import Backend
from support.gateway import SECRETS, config
from support.http_client import post

STRIPE, SLACK = SECRETS["stripe"], SECRETS["slack"]
ONCE = {"timeout": "1s", "retry": {"attempts": 1}}
EAGER = {"retry": {"first": "20ms", "factor": 1.0, "max": "20ms", "attempts": 100000}}


class RawBackend:
    """A server whose connections a script serves: script(connection) after the request's head and body have come."""

    def __init__(self, script, context=None):
        self._script, self._context = script, context
        self._listener = socket.create_server(("127.0.0.1", 0), backlog=128)
        self.port = self._listener.getsockname()[1]
        self._open = []
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            if self._context:
                connection = self._context.wrap_socket(connection, server_side=True)
            received = b""
            while b"\r\n\r\n" not in received:
                part = connection.recv(65536)
                if not part:
                    return
                received += part
            self._script(connection)
        except OSError:
            pass
        finally:
            connection.close()


def send(head):
    return lambda connection: connection.sendall(head)


def drip(head, piece):
    def script(connection):
        connection.sendall(head)
        while True:
            threading.Event().wait(0.05)
            connection.sendall(piece)
    return script


def endless(head, piece):
    def script(connection):
        connection.sendall(head)
        while True:
            connection.sendall(piece)
    return script


def silent(connection):
    connection.recv(1)


def first_attempt(gateway, event_id):
    return gateway.wait_until(lambda: next((a for d in gateway.event(event_id)["deliveries"] for a in d["attempts"]
                                            if a["outcome"] not in (None, "released")), None))


def beside(backend, bad):
    """Stripe's events go to the good backend, Slack's to the bad one."""
    tables = config(backend.url, "stripe", "slack")
    tables["destinations"]["bad"] = {**ONCE, **bad}
    tables["sources"]["slack"]["destinations"] = ["bad"]
    return tables


def the_good_one_goes_on(gateway, count=10):
    for number in range(count):
        answer = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_beside_{number}"))
        gateway.wait_for_state(answer.json()["id"], "delivered")


@pytest.mark.parametrize("name, script, reason", [
    ("silent", silent, "no answer within 1s"),
    ("closes", lambda connection: None, "connection closed before an answer"),
    ("closes in the head", send(b"HTTP/1.1 200 OK\r\nX-Half: "), "head of the answer is incomplete"),
    ("garbage", send(b"\x00\x01\x02 hello\r\n\r\n"), ""),
    ("drips its head", drip(b"HTTP/1.1 200 OK\r\n", b"X: y\r\n"), "no answer within 1s"),
    ("endless head", endless(b"HTTP/1.1 200 OK\r\n", b"X-Again: and again\r\n" * 100), "the head of the answer is over 64KiB"),
    ("endless error page", endless(b"HTTP/1.1 500 No\r\n\r\n", b"e" * 65536), "answered 500"),
    ("drips its error page", drip(b"HTTP/1.1 500 No\r\nContent-Length: 100000\r\n\r\n", b"."), "answered 500"),
    ("redirects to the metadata service", send(b"HTTP/1.1 307 Go\r\nLocation: http://169.254.169.254/latest/\r\n"
                                               b"Content-Length: 0\r\n\r\n"), "redirects are not followed"),
], ids=lambda value: value if isinstance(value, str) and value and " within" not in value else "")
def test_a_misbehaving_destination_fails_with_its_reason_and_delays_no_other(start, backend, name, script, reason):
    with RawBackend(script) as bad:
        gateway = start(beside(backend, {"url": f"http://127.0.0.1:{bad.port}/"}))
        answers = [post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvBad{number}")) for number in range(20)]
        the_good_one_goes_on(gateway)
        attempt = first_attempt(gateway, answers[0].json()["id"])
        assert attempt["outcome"] == "failed"
        assert attempt["error"] and reason in attempt["error"], attempt
        assert len(attempt["response"] or "") <= 4096
        for answer in answers:
            gateway.wait_for_state(answer.json()["id"], "dead")


def test_more_hung_attempts_than_any_shared_limit_leave_the_others_their_connections(start, backend):
    with socket.create_server(("127.0.0.1", 0), backlog=4096) as hung:  # the kernel connects, nobody answers
        tables = beside(backend, {"url": "http://127.0.0.1:%d/" % hung.getsockname()[1], "timeout": "60s", "concurrency": 2000})
        tables["server"]["drain"] = "100ms"
        gateway = start(tables)
        for number in range(1200):
            assert post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvHung{number}")).status == 200
        gateway.wait_until(lambda: gateway.metric("hookonce_attempts_in_flight") >= 1200)
        the_good_one_goes_on(gateway)


@pytest.mark.parametrize("script", [endless(b"HTTP/1.1 200 OK\r\n\r\n", b"e" * 65536),
                                    drip(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n", b"."),
                                    send(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc")], ids=["endless", "drips", "cut"])
def test_a_2xx_whose_body_never_ends_is_a_delivery_all_the_same(start, backend, script):
    with RawBackend(script) as bad:
        gateway = start(beside(backend, {"url": f"http://127.0.0.1:{bad.port}/"}))
        answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, "EvEndless"))
        the_good_one_goes_on(gateway)
        event = gateway.wait_for_state(answer.json()["id"], "delivered")
        assert event["deliveries"][0]["attempts"][0]["status"] == 200


@pytest.mark.parametrize("url, destination, reasons", [
    ("http://nowhere.invalid/", {}, ["resolve nowhere.invalid"]),
    ("http://169.254.169.254/latest/meta-data/", {"allow_private": False}, ["169.254.169.254", "allow_private"]),
    ("http://[::ffff:169.254.169.254]/", {"allow_private": False}, ["allow_private"]),
    ("http://localhost:9/", {"allow_private": False}, ["127.0.0.1", "allow_private"]),
    ("http://0.0.0.0:9/", {"allow_private": False}, ["allow_private"]),
    ("http://100.64.0.1/", {"allow_private": False}, ["100.64.0.1", "allow_private"]),
    ("http://127.0.0.1:9/", {}, ["connect 127.0.0.1:9", "refused"]),
], ids=["no address", "metadata", "mapped metadata", "localhost", "any address", "carrier NAT", "closed port"])
def test_a_destination_that_leads_nowhere_fails_with_its_reason(start, backend, url, destination, reasons):
    gateway = start(beside(backend, {"url": url, **destination}))
    answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, "EvNowhere"))
    the_good_one_goes_on(gateway, 3)
    attempt = first_attempt(gateway, answer.json()["id"])
    assert attempt["outcome"] == "failed" and attempt["status"] is None
    for reason in reasons:
        assert reason in attempt["error"], attempt


def openssl(*arguments, cwd):
    subprocess.run(["openssl", *arguments], cwd=cwd, check=True, capture_output=True)


@pytest.fixture
def certificates(tmp_path):
    """An authority, and certificates of it for 127.0.0.1: the server's, an expired one, and a client's."""
    folder = tmp_path / "certificates"
    folder.mkdir()
    key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem", cwd=folder)
    (folder / "names").write_text("subjectAltName=IP:127.0.0.1\n")
    for name, days in (("server", "2"), ("expired", "-1"), ("client", "2")):
        openssl("req", *key, "-subj", f"/CN={name}", "-keyout", f"{name}.key", "-out", f"{name}.csr", cwd=folder)
        openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", days,
                "-extfile", "names", "-out", f"{name}.pem", cwd=folder)
    return folder


def tls(folder, name, client_ca=None):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / f"{name}.pem", folder / f"{name}.key")
    if client_ca:
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(client_ca)
    return context


OK = b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"


@pytest.mark.parametrize("certificate, trusts, reason", [
    ("server", True, None), ("server", False, "certificate"), ("expired", True, "certificate has expired")])
def test_certificates_are_judged_by_the_configured_authority(start, backend, certificates, certificate, trusts, reason):
    with RawBackend(send(OK), tls(certificates, certificate)) as bad:
        trust = {"ca_file": str(certificates / "ca.pem")} if trusts else {}
        gateway = start(beside(backend, {"url": f"https://127.0.0.1:{bad.port}/", **trust}))
        answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, "EvTls"))
        the_good_one_goes_on(gateway, 3)
        attempt = first_attempt(gateway, answer.json()["id"])
        if reason is None:
            assert attempt["status"] == 200, attempt
        else:
            assert attempt["outcome"] == "failed" and reason in attempt["error"], attempt


@pytest.mark.parametrize("shows", [True, False])
def test_a_client_certificate_is_shown_where_one_is_configured(start, backend, certificates, shows):
    with RawBackend(send(OK), tls(certificates, "server", client_ca=certificates / "ca.pem")) as strict:
        own = {"client_cert": str(certificates / "client.pem"), "client_key": str(certificates / "client.key")} if shows else {}
        gateway = start(beside(backend, {"url": f"https://127.0.0.1:{strict.port}/", "ca_file": str(certificates / "ca.pem"), **own}))
        answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, "EvClient"))
        assert first_attempt(gateway, answer.json()["id"])["outcome"] == ("success" if shows else "failed")


def test_an_explicit_proxy_gets_the_events_of_its_destination_alone(start, backend):
    with Backend() as proxy:
        gateway = start(beside(backend, {"url": "http://nowhere.invalid/in", "proxy": proxy.url}))
        answer = post(gateway.ingest, "/in/slack", senders.slack(SLACK, "EvProxied"))
        the_good_one_goes_on(gateway, 3)
        gateway.wait_for_state(answer.json()["id"], "delivered")
        assert [request.path for request in proxy.requests] == ["http://nowhere.invalid/in"]


def breaker_of(gateway, name):
    items = gateway.api("GET", "/api/v1/destinations").json()["items"]
    return next(item for item in items if item["name"] == name)["breaker"]


def test_a_breaker_opens_spares_the_destination_and_lets_the_backlog_out_in_order(start, backend):
    """The backend answers 503 until the breaker is open, and then is well; meanwhile more arrives."""
    ill = threading.Event()
    ill.set()
    with Backend() as other:
        other.answer_with(lambda request, nth: 503 if ill.is_set() else 200)
        breaker = {"attempts": 5, "after": "100ms", "open": "1s", "open_max": "1s"}
        gateway = start(beside(backend, {**EAGER, "url": other.url, "breaker": breaker, "concurrency": 4}))
        first = [post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvFirst{number}")) for number in range(5)]
        gateway.wait_until(lambda: breaker_of(gateway, "bad")["state"] != "closed")
        gateway.wait_until(lambda: gateway.metric("hookonce_breaker_open{destination=\"bad\"}") == 1)
        gateway.wait_until(lambda: "breaker.opened" in gateway.log())
        the_good_one_goes_on(gateway, 3)
        later = [post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvLater{number}")) for number in range(30)]
        attempts = len(other.requests)
        gateway.wait_until(lambda: len(other.requests) >= attempts + 2)  # two probes, a second apart
        assert len(other.requests) <= attempts + 4, "nothing but probes"
        ill.clear()
        for answer in first + later:
            gateway.wait_for_state(answer.json()["id"], "delivered")
        gateway.wait_until(lambda: breaker_of(gateway, "bad")["state"] == "closed")
        assert breaker_of(gateway, "bad")["opened"] == 1
        gateway.wait_until(lambda: gateway.metric("hookonce_breaker_open{destination=\"bad\"}") == 0)
        untried = [gateway.event(answer.json()["id"])["deliveries"][0]["attempts"] for answer in later]
        assert sum(len(attempts) == 1 for attempts in untried) >= 28, "waiting used no attempts but the probes'"


def test_eight_destinations_wait_for_nothing_that_a_hung_and_an_unresolved_one_hold(start, backend, tmp_path):
    """Counted: all that the two ever took they still hold when the last delivery of the eight is made, so none of these got it from them."""
    events, concurrency = 300, 16
    healthy = [f"healthy{number}" for number in range(8)]
    with socket.create_server(("127.0.0.1", 0), backlog=512) as hung:  # the kernel connects, nobody answers
        tables = config(backend.url, "slack")
        tables["server"]["drain"] = "100ms"
        stuck = {"hung": "http://127.0.0.1:%d/" % hung.getsockname()[1], "unresolved": "http://never.hang.test/"}
        tables["destinations"] = {name: {"url": f"{backend.url}{name}", "concurrency": concurrency} for name in healthy}
        tables["destinations"].update({name: {"url": url, "concurrency": concurrency, "timeout": "10m"} for name, url in stuck.items()})
        tables["sources"]["slack"]["destinations"] = [*stuck, *healthy]
        gateway = start(tables, environment=hanging_names.environment(tmp_path))
        first = [post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvFirst{number}")) for number in range(concurrency)]
        gateway.wait_until(lambda: gateway.metric("hookonce_attempts_in_flight") >= 2 * concurrency)
        rest = [post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"EvRest{number}")) for number in range(events - concurrency)]
        backend.wait_for(events * len(healthy))
        accepted = {answer.json()["id"] for answer in first + rest}
        for name in healthy:
            received = [request.event for request in backend.requests if request.path == f"/{name}"]
            assert len(received) == events and set(received) == accepted, name
        assert gateway.metric('hookonce_attempts_total{outcome="failed"}') == 0
        deliveries = [delivery for event_id in accepted for delivery in gateway.event(event_id)["deliveries"]]
        for name in stuck:
            of_it = [delivery for delivery in deliveries if delivery["destination"] == name]
            assert sum(delivery["state"] == "in_flight" for delivery in of_it) == concurrency, name
            assert sum(len(delivery["attempts"]) for delivery in of_it) == concurrency, "none has ended, and no more were claimed"


@pytest.mark.parametrize("breaker", [False, {"attempts": 5, "after": "200ms", "open": "1s", "open_max": "1s"}], ids=["alone", "breaker"])
def test_after_an_outage_with_retry_after_the_backlog_drains_oldest_first_and_without_a_herd(start, backend, breaker):
    """600 events while the backend answers 503 with `Retry-After: 2`, then it is well. Without a breaker each of them is tried and asked to
    wait; with one the backend is spared, and then given two at once and one more with each success."""
    events, concurrency = 600, 8
    clock, lock = threading.Event(), threading.Lock()
    ill = threading.Event()
    ill.set()
    tries, order = {}, []  # id -> its attempts' (time, status); ids in the order of success
    inside = {"now": 0, "most": 0, "herd": 0}

    def answer(request, _nth):
        with lock:
            inside["now"] += 1
            inside["most"] = max(inside["most"], inside["now"])
            if not ill.is_set():
                inside["herd"] = max(inside["herd"], inside["now"] - len(order) - 1)
            status = 503 if ill.is_set() else 200
            tries.setdefault(request.provider_id, []).append((time.monotonic(), status))
        clock.wait(0.002)  # a backend that has something to do, so that attempts overlap
        with lock:
            inside["now"] -= 1
            if status == 200:
                order.append(request.provider_id)
        return (503, [("Retry-After", "2")], b"later") if status == 503 else 200

    backend.answer_with(answer)
    gateway = start(config(backend.url, "slack", destination={"concurrency": concurrency, "breaker": breaker, "retry": {"attempts": 1000}}))
    for number in range(events):
        assert post(gateway.ingest, "/in/slack", senders.slack(SLACK, f"Ev{number:03}")).status == 200
    if breaker:
        gateway.wait_until(lambda: breaker_of(gateway, "backend")["state"] != "closed" and inside["now"] == 0)
    else:
        backend.wait_until(lambda: len(tries) == events)
    ill.clear()
    backend.wait_until(lambda: len(order) >= events)
    gateway.wait_until(lambda: gateway.metric('hookonce_deliveries{state="pending"}') == 0)
    assert sorted(order) == sorted(set(order)) == sorted(tries), "each has succeeded, once"
    assert inside["most"] <= concurrency
    early = [name for name, seen in tries.items() for one, two in zip(seen, seen[1:]) if two[0] - one[0] < 2]
    assert not early, "no attempt before what the backend asked for"
    if breaker:
        assert inside["herd"] <= 0, "never more at once than two and one for each success"
    else:
        # The one that waited longest comes first: what is overtaken was claimed or refused together with what overtook it.
        waited = sorted(order, key=lambda name: tries[name][-2][0])
        places = {name: place for place, name in enumerate(waited)}
        assert max(abs(places[name] - place) for place, name in enumerate(order)) <= 2 * concurrency


def test_an_event_that_no_destination_wants_is_kept_and_says_why(start, backend):
    tables = config(backend.url, "stripe", source={"destinations": [
        {"name": "backend", "types": ["invoice.*"], "when": {"json:/livemode": True, "header:X-Env": ["prod", "stage"]}}]})
    gateway = start(tables)

    def accepted(event_id, livemode, environment):
        document = json.dumps({"id": event_id, "type": "invoice.paid", "livemode": livemode}).encode()
        headers, body = senders.stripe(STRIPE, event_id, body=document)
        answer = post(gateway.ingest, "/in/stripe", (headers + [("X-Env", environment)], body))
        assert answer.status == 200
        return answer.json()["id"]

    wanted = accepted("evt_wanted", True, "prod")
    for number, (livemode, environment) in enumerate([(False, "prod"), (True, "test"), (None, "stage")]):
        event = gateway.event(accepted(f"evt_unwanted_{number}", livemode, environment))
        assert event["state"] == "delivered" and event["deliveries"] == []
        assert "no destination" in event["reason"]
    gateway.wait_for_state(wanted, "delivered")
    assert len(backend.requests) == 1
    assert gateway.metric("hookonce_unwanted_total") == 3
