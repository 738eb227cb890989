"""kill -9 under load at random moments: nothing acknowledged is lost, nothing is accepted twice.

Senders keep a ledger of what was answered 2xx, with the verdict and the event id of each answer. A request without an answer, or
with a 503, is repeated as a provider would. After the last kill the ledger is compared with what the backend got and with the
gateway's own list: each acknowledged id was delivered, and each id is exactly one event, whichever answer named it.
"""
import os
import random
import threading

from support import senders
from support.gateway import SECRETS, config
from support.http_client import Connection

SENDERS = 8
EVENTS_PER_SENDER_AND_CYCLE = 60


class Ledger:
    def __init__(self):
        self.lock = threading.Lock()
        self.answers = {}      # provider's id -> list of (verdict, event id)
        self.acknowledged = 0
        self.changed = threading.Condition(self.lock)

    def add(self, event_id, answer):
        with self.changed:
            self.answers.setdefault(event_id, []).append((answer.header("Hookonce-Status"), answer.header("Hookonce-Event")))
            self.acknowledged += 1
            self.changed.notify_all()


def send_until_acknowledged(gateway, ledger, event_id, up):
    """As a provider: repeats until a 2xx comes; `up` is set while a gateway runs."""
    connection = None
    while True:
        up.wait()
        try:
            if connection is None:
                connection = Connection(gateway.ingest)
            answer = connection.request("POST", "/in/stripe", *senders.stripe(SECRETS["stripe"], event_id))
        except OSError:
            connection = None
            continue
        if answer.status == 200:
            ledger.add(event_id, answer)
            connection.close()
            return
        assert answer.status == 503, answer


def test_kill_9_under_load_loses_nothing_and_accepts_nothing_twice(start, backend, request):
    cycles = request.config.getoption("--cycles")
    seed = int(os.environ.get("HOOKONCE_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"\nseed {seed} (HOOKONCE_SEED={seed} repeats it)")
    chance = random.Random(seed)
    gateway = start(config(backend.url, "stripe", destination={"retry": {"first": "50ms", "max": "500ms", "attempts": 200}}))
    ledger = Ledger()
    up = threading.Event()
    up.set()

    def work(sender, cycle):
        for number in range(EVENTS_PER_SENDER_AND_CYCLE):
            send_until_acknowledged(gateway, ledger, f"evt_crash_{cycle}_{sender}_{number}", up)

    for cycle in range(cycles):
        threads = [threading.Thread(target=work, args=(sender, cycle)) for sender in range(SENDERS)]
        kill_at = ledger.acknowledged + chance.randrange(1, SENDERS * EVENTS_PER_SENDER_AND_CYCLE)
        for thread in threads:
            thread.start()
        with ledger.changed:
            assert ledger.changed.wait_for(lambda: ledger.acknowledged >= kill_at, 120), gateway.log()
        up.clear()
        gateway.kill()
        gateway.start()
        up.set()
        for thread in threads:
            thread.join()
        print(f"cycle {cycle + 1} of {cycles}: killed at {kill_at} acknowledged, {ledger.acknowledged} now")

    expected = set(ledger.answers)
    assert len(expected) == cycles * SENDERS * EVENTS_PER_SENDER_AND_CYCLE
    backend.wait_until(lambda: expected <= set(backend.effects))
    twice = {key: answers for key, answers in ledger.answers.items() if len({event for _, event in answers}) != 1}
    assert not twice, f"one provider id, several events: {twice}"
    listed = {}
    for event in gateway.all_events():
        listed.setdefault(event["key"], []).append(event["id"])
    assert set(listed) == expected
    assert all(len(ids) == 1 for ids in listed.values()), "an event was accepted twice"
    assert all(listed[key][0] == answers[0][1] for key, answers in ledger.answers.items()), "an answer named another event"
    again = sum(count - 1 for count in backend.effects.values())
    gateway.wait_until(lambda: not gateway.events(state="pending"))
    assert not gateway.events(state="dead")
    print(f"{cycles} kills: {len(expected)} events acknowledged, all delivered, none accepted twice, {again} sent again after a kill")
