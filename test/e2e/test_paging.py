"""Paging through a list while it grows."""
import threading

from support import senders
from support.gateway import SECRETS, Gateway, config
from support.http_client import Connection

BEFORE = 10_000
MEANWHILE = 1_000
SENDERS = 8


def send(address, numbers):
    with Connection(address) as connection:
        for number in numbers:
            headers, body = senders.stripe(SECRETS["stripe"], f"evt_{number}")
            answer = connection.request("POST", "/in/stripe", headers, body)
            assert answer.status == 200, answer


def send_all(gateway, first, count):
    failures = []

    def run(numbers):
        try:
            send(gateway.ingest, numbers)
        except BaseException as failure:  # told to the thread that waits
            failures.append(failure)

    threads = [threading.Thread(target=run, args=(range(first + nth, first + count, SENDERS),)) for nth in range(SENDERS)]
    for thread in threads:
        thread.start()
    return threads, failures


def test_each_of_ten_thousand_is_seen_once_while_a_thousand_more_arrive(binary, tmp_path, backend):
    tables = config(backend.url, "stripe")
    tables["sources"]["stripe"]["destinations"] = [{"name": "backend", "types": ["of.nobody"]}]  # nothing is delivered: the list alone is meant
    with Gateway(binary, tmp_path, tables) as gateway:
        threads, failures = send_all(gateway, 0, BEFORE)
        for thread in threads:
            thread.join()
        assert not failures, failures

        first = gateway.api("GET", "/api/v1/events?limit=500").json()
        seen = [item["key"] for item in first["items"]]
        threads, failures = send_all(gateway, BEFORE, MEANWHILE)
        cursor = first["next_cursor"]
        while cursor is not None:
            page = gateway.api("GET", f"/api/v1/events?limit=100&cursor={cursor}").json()
            seen += [item["key"] for item in page["items"]]
            cursor = page["next_cursor"]
        for thread in threads:
            thread.join()
        assert not failures, failures
        assert len(seen) == len(set(seen)), "shown twice"
        assert set(seen) == {f"evt_{number}" for number in range(BEFORE)}
        assert len(gateway.api("GET", "/api/v1/events?limit=500").json()["items"]) == 500
        assert sum(1 for _ in gateway.all_events()) == BEFORE + MEANWHILE
