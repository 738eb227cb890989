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
    def __init__(self, ledger, path, message, seed, owed_max=OWED_MAX):
        self._ledger = ledger
        self._path = path
        self._message = message
        self._owed_max = owed_max
        self._numbers = itertools.count(1)
        self._address = None
        self._up = threading.Event()
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
        self._giving_up = True
        self._finishing.set()
        self._up.set()
        for sender in self._senders:
            sender.join(WAIT_SECONDS)

    def point_at(self, address):
        self._address = address
        if address is None:
            self._up.clear()
        else:
            self._up.set()

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
        while not self._giving_up:
            self._up.wait()
            address = self._address
            if address is None:
                continue
            self._ledger.sent(key)
            try:
                with Connection(address, ANSWER_SECONDS) as connection:
                    answer = connection.request("POST", self._path, *self._message(key))
            except OSError:
                self._finishing.wait(REFUSED_PAUSE)
                continue
            if is_success(answer.status):
                self._ledger.acknowledge(key, answer.header("Hookonce-Status"), answer.header("Hookonce-Event"))
                return
            self._ledger.answered(key, answer.status)
