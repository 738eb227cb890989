"""64 concurrent copies of one Stripe event, again and again: one is accepted, 63 are duplicates, the backend gets it once."""
import threading

from support import senders
from support.gateway import SECRETS, config
from support.http_client import Connection, request_bytes

COPIES = 64


def fire(address, messages):
    """Sends all messages at once, each on a connection of its own that is open before the first one starts."""
    connections = [Connection(address) for _ in messages]
    answers = [None] * len(messages)
    together = threading.Barrier(len(messages))

    def send(index):
        headers, body = messages[index]
        data = request_bytes("POST", "/in/stripe", headers, body)
        together.wait()
        connections[index].send(data)
        answers[index] = connections[index].answer()

    threads = [threading.Thread(target=send, args=(index,)) for index in range(len(messages))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for connection in connections:
        connection.close()
    return answers


def test_of_64_concurrent_copies_one_is_accepted_and_one_is_delivered(start, backend, request):
    repeat = request.config.getoption("--repeat")
    gateway = start(config(backend.url, "stripe"))
    for number in range(repeat):
        event_id = f"evt_twins_{number}"
        answers = fire(gateway.ingest, [senders.stripe(SECRETS["stripe"], event_id)] * COPIES)
        assert [answer.status for answer in answers] == [200] * COPIES
        verdicts = [answer.header("Hookonce-Status") for answer in answers]
        assert sorted(verdicts) == ["accepted"] + ["duplicate"] * (COPIES - 1)
        assert len({answer.header("Hookonce-Event") for answer in answers}) == 1
        backend.wait_until(lambda: event_id in backend.effects)
        gateway.wait_for_state(answers[0].header("Hookonce-Event"), "delivered")
    events = list(gateway.all_events())
    assert len(events) == repeat
    assert all(event["duplicates"] == COPIES - 1 for event in events)
    assert backend.effects == {f"evt_twins_{number}": 1 for number in range(repeat)}
    assert len(backend.requests) == repeat
    print(f"\n{repeat} times {COPIES} copies: one accepted, {COPIES - 1} duplicates, one delivery, every time")

