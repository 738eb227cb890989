"""The driver and the judge of the crash tests, pointed at a FastAPI handler that answers first and works afterwards, find its losses.

The handler is killed as the gateway is in test/crash. Without kills the same driver finds nothing wrong with it.
"""
import random

import pytest

from support import senders
from support.gateway import SECRETS
from support.ledger import Ledger, judge, read
from support.provider_side import ProviderSide
from support.recorded_backend import RecordedBackend
from support.sdks import ROOT

KILLS = 5
ACKNOWLEDGED_MAX = 100  # between two kills; the number is drawn
START_SECONDS = 180     # a bound for a broken program, never a pace


@pytest.fixture
def ledger(tmp_path):
    ledger = Ledger(tmp_path / "ledger.jsonl")
    yield ledger
    ledger.close()


@pytest.mark.parametrize("kills", [0, KILLS])
def test_the_driver_finds_what_a_handler_loses_that_works_after_its_answer(serve, ledger, kills):
    seed = random.SystemRandom().randrange(1 << 32)
    print(f"\nseed {seed}")
    chance = random.Random(seed)

    def some_acknowledged():
        enough = ledger.acknowledged + chance.randrange(1, ACKNOWLEDGED_MAX)
        assert ledger.wait_for(lambda: ledger.acknowledged >= enough, START_SECONDS), application.log()

    # Nobody sends an effect again, so this backend, where the effects end, never fails.
    with RecordedBackend(ledger, seed) as effects:
        effects.heal()

        def begin():
            return serve("uvicorn", "background:app", ROOT / "test" / "sdk" / "naive_fastapi", SLACK_SIGNING_SECRET=SECRETS["slack"],
                         EFFECTS_URL=effects.url)

        # What is lost stays owed for ever, so that must not end the load.
        with ProviderSide(ledger, "/slack/events", lambda key: senders.slack(SECRETS["slack"], key), seed, owed_max=None) as provider:
            given_up = set()
            application = begin()
            provider.point_at(application.address)
            for _ in range(kills):
                some_acknowledged()
                application.kill()
                provider.point_at(None)
                ledger.write("killed", moment="load")
                given_up = set(ledger.owed)
                application = begin()
                provider.point_at(application.address)
            some_acknowledged()
            provider.finish()
        # All that this last process has taken on.
        assert ledger.wait_for(lambda: ledger.owed <= given_up), application.log()
    faults = judge(read(ledger.path))
    assert set(faults) == ({"lost"} if kills else set()), faults
    print(f"{kills} kills: {ledger.acknowledged} answers, {len(faults.get('lost', []))} events acknowledged and lost")
