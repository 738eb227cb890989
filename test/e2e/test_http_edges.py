"""Framing at the door: what could make one request two, or none."""
import socket

from support import senders
from support.gateway import SECRETS
from support.http_client import Connection, request_bytes

STRIPE = SECRETS["stripe"]


def stripe_request(event_id, extra=()):
    headers, body = senders.stripe(STRIPE, event_id)
    return request_bytes("POST", "/in/stripe", headers + list(extra), body)


def test_keep_alive_serves_many_requests_on_one_connection(gateway):
    with Connection(gateway.ingest) as connection:
        for number in range(20):
            connection.send(stripe_request(f"evt_keep_{number}"))
            assert connection.answer().header("Hookonce-Status") == "accepted"


def test_pipelined_requests_are_answered_in_order(gateway):
    with Connection(gateway.ingest) as connection:
        connection.send(stripe_request("evt_p1") + stripe_request("evt_p2") + stripe_request("evt_p1"))
        answers = [connection.answer().json() for _ in range(3)]
    assert [answer["status"] for answer in answers] == ["accepted", "accepted", "duplicate"]
    assert answers[2]["id"] == answers[0]["id"]


def test_a_chunked_body_is_the_same_body(gateway, backend):
    headers, body = senders.stripe(STRIPE, "evt_chunked")
    chunks = b"".join(b"%x;ext=1\r\n%s\r\n" % (len(part), part) for part in (body[:7], body[7:50], body[50:])) + b"0\r\nX-Trailer: t\r\n\r\n"
    with Connection(gateway.ingest) as connection:
        connection.send(request_bytes("POST", "/in/stripe", headers + [("Transfer-Encoding", "chunked")], chunks))
        answer = connection.answer()
    assert answer.header("Hookonce-Status") == "accepted", answer
    gateway.wait_for_state(answer.json()["id"], "delivered")
    assert backend.requests[0].body == body


def test_expect_100_continue_gets_its_interim_answer(gateway):
    headers, body = senders.stripe(STRIPE, "evt_expect")
    with Connection(gateway.ingest) as connection:
        connection.send(request_bytes("POST", "/in/stripe", headers + [("Expect", "100-continue"), ("Content-Length", str(len(body)))], b""))
        assert connection.answer().status == 100
        connection.send(body)
        assert connection.answer().header("Hookonce-Status") == "accepted"


def test_another_expectation_is_417(gateway):
    with Connection(gateway.ingest) as connection:
        connection.send(stripe_request("evt_417", [("Expect", "the-unexpected")]))
        assert connection.answer().status == 417


def test_a_refused_requests_body_never_becomes_the_next_request(gateway):
    smuggled = stripe_request("evt_smuggled")
    with Connection(gateway.ingest) as connection:
        connection.send(request_bytes("POST", "/in/nobody", [], smuggled))
        assert connection.answer().status == 404
        try:
            connection.send(stripe_request("evt_after"))
            assert connection.answer().header("Hookonce-Status") == "accepted"
        except (ConnectionError, OSError):
            pass  # Closing after a refusal is right as well.
    assert "evt_smuggled" not in [event["key"] for event in gateway.events()]


def test_length_and_chunked_together_are_refused_and_the_connection_ends(gateway):
    smuggled = stripe_request("evt_both")
    with Connection(gateway.ingest) as connection:
        connection.send(request_bytes("POST", "/in/stripe", [("Content-Length", "0"), ("Transfer-Encoding", "chunked")], b"0\r\n\r\n" + smuggled))
        answer = connection.answer()
        assert (answer.status, answer.code) == (400, "malformed")
        assert connection.at_end()
    assert gateway.events() == []


def test_two_different_lengths_are_refused(gateway):
    with Connection(gateway.ingest) as connection:
        connection.send(b"POST /in/stripe HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabcd")
        assert connection.answer().status == 400
        assert connection.at_end()


def test_a_sender_that_hangs_up_after_the_whole_request_has_sent_an_event(gateway, backend):
    with Connection(gateway.ingest) as connection:
        connection.send(stripe_request("evt_hung_up"))
    backend.wait_until(lambda: "evt_hung_up" in backend.effects)


def test_a_half_closed_connection_still_gets_its_answer(gateway):
    with Connection(gateway.ingest) as connection:
        connection.send(stripe_request("evt_half"))
        connection.socket.shutdown(socket.SHUT_WR)
        assert connection.answer().header("Hookonce-Status") == "accepted"


def test_a_body_cut_short_is_no_event(gateway):
    with Connection(gateway.ingest) as connection:
        connection.send(stripe_request("evt_cut")[:-5])
        connection.socket.shutdown(socket.SHUT_WR)
        try:
            assert connection.answer().status == 400
        except ConnectionError:
            pass
    assert gateway.events() == []


def test_health_and_readiness_on_the_ingest_listener(gateway):
    for path in ("/healthz", "/readyz"):
        with Connection(gateway.ingest) as connection:
            assert connection.request("GET", path).status == 200
