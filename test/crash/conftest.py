"""What the crash tests share: a seed, a ledger, and the verdict at the end."""
import os
import random

import pytest

from support.ledger import Ledger, explain, figures, judge, read

DETAILS_MAX = 500  # of the events with one plain attempt, so many are looked at in full; of the others each one


@pytest.fixture
def seed():
    chosen = int(os.environ.get("HOOKONCE_SEED") or random.SystemRandom().randrange(1 << 32))
    print(f"\nseed {chosen} (HOOKONCE_SEED={chosen} makes the same choices again)")
    return chosen


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    yield ledger
    ledger.close()


@pytest.fixture
def record_shown(ledger):
    """record_shown(gateway): when the gateway has nothing left to do, what it shows goes into the ledger."""
    def write(gateway):
        gateway.wait_until(lambda: not gateway.events(state="pending"))
        attempts_at_backend = {}
        for line in read(ledger.path):
            if line["what"] == "delivered":
                attempts_at_backend.setdefault(line["event"], []).append(line["attempt"])
        plain = 0
        for item in gateway.all_events():
            is_plain = attempts_at_backend.get(item["id"]) == [1]
            plain += is_plain
            attempts = None
            if not is_plain or plain <= DETAILS_MAX:
                delivery, = gateway.event(item["id"])["deliveries"]
                attempts = [[attempt["number"], attempt["outcome"]] for attempt in delivery["attempts"]]
            ledger.write("shown", key=item["key"], event=item["id"], state=item["state"], attempts=attempts)

    return write


@pytest.fixture
def verdict(ledger, record_shown):
    """verdict(gateway): in the end the judge finds no fault; returns the figures."""
    def reach(gateway):
        record_shown(gateway)
        lines = read(ledger.path)
        faults = judge(lines)
        assert not faults, "\n".join(f"{name}: {len(keys)} events, such as\n{explain(lines, keys)}" for name, keys in faults.items()) \
            + f"\nthe whole ledger is {ledger.path}"
        return figures(lines)

    return reach
