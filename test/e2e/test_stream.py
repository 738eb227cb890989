"""What happens, as it happens: the live stream of the admin API, and `hookonce tail`."""
import http.client
import itertools
import json
import os
import select
import subprocess

from support import senders
from support.gateway import SECRETS, Gateway, config
from support.http_client import post

STRIPE = SECRETS["stripe"]


class Stream:
    """Server-sent events from the gateway's stream, read as they come."""

    def __init__(self, gateway, query=""):
        self.connection = http.client.HTTPConnection(gateway.admin, timeout=60)
        self.connection.request("GET", "/api/v1/stream" + query)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200, self.answer.read()
        assert self.answer.getheader("Content-Type") == "text/event-stream"
        assert self.answer.readline() == b"retry: 2000\n" and self.answer.readline() == b"\n"  # from here on nothing is missed

    def next(self):
        name = None
        while True:
            line = self.answer.readline().decode()
            assert line, "the stream ended"
            line = line.rstrip("\n")
            if line.startswith("event: "):
                name = line[len("event: "):]
            elif line.startswith("data: "):
                data = json.loads(line[len("data: "):])
                assert self.answer.readline() == b"\n"
                return name, data

    def close(self):
        self.connection.close()


def test_the_stream_tells_each_fact_in_order(binary, tmp_path, backend):
    with Gateway(binary, tmp_path, config(backend.url, "stripe")) as gateway:
        stream = Stream(gateway)
        first = post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1"))
        event = first.header("Hookonce-Event")
        facts = {}
        while "delivered" not in facts:
            name, data = stream.next()
            facts[name] = data
        if "accepted" not in facts:  # told by the thread that answers, which may come to it after the delivery
            name, facts["accepted"] = stream.next()
            assert name == "accepted"
        assert [name for name in facts if name != "accepted"] == ["attempt", "delivered"]
        assert all(data["event"] == event and data["source"] == "stripe" for data in facts.values())
        assert facts["accepted"]["key"] == "evt_1"
        assert facts["attempt"]["outcome"] == "success" and facts["attempt"]["attempt"] == 1 and facts["attempt"]["late"] is False
        assert facts["delivered"]["destination"] == "backend" and facts["delivered"]["status"] == 200

        assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, "evt_1")).status == 200
        name, data = stream.next()
        assert name == "duplicate" and data["event"] == event and data["same_body"] is True
        assert data["cause"] == "concurrent_twin" and data["since_first_ms"] >= 0
        assert post(gateway.ingest, "/in/stripe", senders.stripe("whsec_" + "b" * 32, "evt_2")).status == 401
        name, data = stream.next()
        assert name == "rejected" and data["code"] == "signature_mismatch" and data["event"] is None
        stream.close()


def test_stopping_the_gateway_ends_the_stream(binary, tmp_path, backend):
    with Gateway(binary, tmp_path, config(backend.url, "stripe")) as gateway:
        stream = Stream(gateway, "?source=stripe")
        gateway.stop()
        assert stream.answer.read() == b""
        stream.close()


def test_tail_follows_until_it_has_seen_enough(binary, tmp_path, backend):
    with Gateway(binary, tmp_path, config(backend.url, "stripe")) as gateway:
        environment = {**os.environ, "HOOKONCE_ADMIN": f"http://{gateway.admin}", "NO_COLOR": "1"}
        for arguments in (["--json"], []):
            tail = subprocess.Popen([binary, "tail", "--type", "invoice.paid", "--count", "3", *arguments], env=environment, text=True,
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
            sent = 0
            while tail.poll() is None:  # it says nothing before the first fact: events are sent until it has seen enough
                sent += 1
                assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_{len(arguments)}_{sent}")).status == 200
                assert sent < 100_000, "tail showed nothing"
            out, err = tail.communicate()
            assert tail.returncode == 0 and err == "", err
            lines = [line for line in out.splitlines() if "missed" not in line]
            assert len(lines) == 3, out
            if arguments:
                facts = [json.loads(line) for line in lines]
                assert all(fact["type"] == "invoice.paid" for fact in facts) and facts[0]["fact"] in ("accepted", "attempt", "delivered")
            else:
                assert all("invoice.paid" in line for line in lines), out


def test_tail_says_that_the_gateway_went(binary, tmp_path, backend):
    with Gateway(binary, tmp_path, config(backend.url, "stripe")) as gateway:
        environment = {**os.environ, "HOOKONCE_ADMIN": f"http://{gateway.admin}"}
        tail = subprocess.Popen([binary, "tail"], env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        numbers = itertools.count()

        def told():  # it says nothing before the first fact, and sees none of before it came
            assert post(gateway.ingest, "/in/stripe", senders.stripe(STRIPE, f"evt_{next(numbers)}")).status == 200
            return select.select([tail.stdout], [], [], 0.1)[0]

        gateway.wait_until(told)
        gateway.stop()
        out, err = tail.communicate(timeout=60)
        assert tail.returncode == 1 and "ended the stream" in err, (out, err)
        late = subprocess.run([binary, "tail"], env=environment, text=True, capture_output=True, timeout=60, check=False)
        assert late.returncode == 1 and "no gateway answers" in late.stderr, late
