"""A provider under load: many senders, each repeating its event until it hears 2xx, some sending copies at once. It writes a ledger.

    with ProviderSide(ledger, "/in/stripe", lambda key: senders.stripe(SECRET, key), seed) as provider:
        provider.point_at(gateway.ingest)     # and again after each restart; None while nobody listens
        ...
        provider.finish()                     # no new events; returns when every one that was begun is acknowledged
"""
import itertools
import random
import threading

from support.http_client import Connection
from support.ledger import WAIT_SECONDS, is_success

SENDERS = 6
COPY_CHANCE = 0.15       # of an event to be sent by two senders at once
ANSWER_SECONDS = 2       # then the provider takes the request for failed
REFUSED_PAUSE = 0.01     # between two tries while a connection is refused
OWED_MAX = 300           # no new event while so many have had no effect yet: what happens stays near its kill


class ProviderSide:
    def __init__(self, ledger, path, message, seed, owed_max=OWED_MAX, first=1):
        """`first` is the number in the first event's key."""
        self._ledger = ledger
        self._path = path
        self._message = message
        self._owed_max = owed_max
        self._numbers = itertools.count(first)
        self._changed = threading.Condition()
        self._address = None
        self._under_way = 0      # requests
        self._finishing = threading.Event()
        self._giving_up = False
        self._senders = [threading.Thread(target=self._send_events, args=(random.Random(f"{seed} {number}"),), daemon=True)
                         for number in range(SENDERS)]
        for sender in self._senders:
            sender.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        """After a failure too no sender is left behind."""
        self._finishing.set()
        with self._changed:
            self._giving_up = True
            self._changed.notify_all()
        for sender in self._senders:
            sender.join(WAIT_SECONDS)

    def point_at(self, address):
        """None, for a process that is dead: returns when no request is under way, so whatever it has answered is in the ledger."""
        with self._changed:
            self._address = address
            self._changed.notify_all()
            if address is None:
                assert self._changed.wait_for(lambda: self._under_way == 0, WAIT_SECONDS)

    def finish(self):
        self._finishing.set()
        for sender in self._senders:
            sender.join(WAIT_SECONDS)
            assert not sender.is_alive(), "an event was not acknowledged, however often it was sent"

    def _send_events(self, chance):
        while not self._finishing.is_set():
            if not self._has_room():
                continue
            key = f"evt_{next(self._numbers)}"
            if chance.random() < COPY_CHANCE:
                self._send_with_a_copy(key)
            else:
                self._send_until_acknowledged(key)

    def _send_with_a_copy(self, key):
        copy = threading.Thread(target=self._send_until_acknowledged, args=(key,), daemon=True)
        copy.start()
        self._send_until_acknowledged(key)
        copy.join()

    def _has_room(self):
        return self._owed_max is None or self._ledger.wait_for(lambda: len(self._ledger.owed) < self._owed_max, ANSWER_SECONDS)

    def _send_until_acknowledged(self, key):
        acknowledged = False
        while not acknowledged:
            with self._changed:
                self._changed.wait_for(lambda: self._address is not None or self._giving_up)
                if self._giving_up:
                    return
                address = self._address
                self._under_way += 1
            try:
                acknowledged = self._send(key, address)
            finally:
                with self._changed:
                    self._under_way -= 1
                    self._changed.notify_all()

    def _send(self, key, address):
        """Whether it was acknowledged."""
        try:
            return send(self._ledger, address, self._path, self._message(key), key)
        except OSError:
            self._finishing.wait(REFUSED_PAUSE)
            return False


def send(ledger, address, path, message, key):
    """One request; whether it was acknowledged. OSError: no answer."""
    ledger.sent(key)
    with Connection(address, ANSWER_SECONDS) as connection:
        answer = connection.request("POST", path, *message)
    if is_success(answer.status):
        ledger.acknowledge(key, answer.header("Hookonce-Status"), answer.header("Hookonce-Event"))
        return True
    ledger.answered(key, answer.status)
    return False
