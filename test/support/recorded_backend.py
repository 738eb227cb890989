"""A backend that fails now and then, can be held up, and writes each request and its answer into a ledger before the answer leaves.

    with RecordedBackend(ledger, seed) as backend:
        backend.hold()      # from now on nothing is answered ...
        backend.wait_for_held(3)
        backend.let_go()    # ... until now
        backend.heal()      # no more failures

As a program it is a process of its own that can be stopped: python3 recorded_backend.py LEDGER SEED prints its URL and ends with its input.
"""
import pathlib
import random
import sys
import threading

if __name__ == "__main__":
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from support.backend import Backend  # noqa: E402
from support.ledger import WAIT_SECONDS, Ledger  # noqa: E402

ERROR_CHANCE = 0.03   # of a 500
SILENT_CHANCE = 0.02  # of a connection that closes without an answer, although the work is not done


class RecordedBackend(Backend):
    def __init__(self, ledger, seed):
        self._ledger = ledger
        self._chance = random.Random(f"{seed} backend")
        self._healthy = False
        self._gate = threading.Condition()
        self._holding = False
        self._held = 0
        super().__init__()
        self.answer_with(self._answer)

    def hold(self):
        with self._gate:
            self._holding = True

    def let_go(self):
        with self._gate:
            self._holding = False
            self._gate.notify_all()

    def wait_for_held(self, count, seconds=WAIT_SECONDS):
        """Until so many requests wait for their answers; whether they do."""
        with self._gate:
            return self._gate.wait_for(lambda: self._held >= count, seconds)

    def heal(self):
        self._healthy = True
        self.let_go()

    def _answer(self, request, _):
        with self._gate:
            self._held += 1
            self._gate.notify_all()
            self._gate.wait_for(lambda: not self._holding, WAIT_SECONDS)
            self._held -= 1
        status = self._status()
        attempt = request.header("Hookonce-Attempt")
        self._ledger.delivered(request.provider_id, request.event, int(attempt) if attempt else None, status)
        return status

    def _status(self):
        if self._healthy:
            return 200
        drawn = self._chance.random()
        return 500 if drawn < ERROR_CHANCE else None if drawn < ERROR_CHANCE + SILENT_CHANCE else 200


if __name__ == "__main__":
    with RecordedBackend(Ledger(sys.argv[1]), sys.argv[2]) as running:
        print(running.url, flush=True)
        sys.stdin.read()
