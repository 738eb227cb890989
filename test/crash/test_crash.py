"""kill -9 at random moments of the gateway's whole life, under load: nothing acknowledged is lost, nothing is accepted twice, nothing is stuck.

A provider sends, repeats what was not acknowledged, and sends copies; a backend fails now and then; both write a ledger. Each
cycle ends at one of MOMENTS. In the end everything heals, and the judge compares the ledger with what the gateway shows (support/ledger.py).
"""
import os
import random
import shutil
import signal
import subprocess
import time

from support import senders
from support.gateway import SECRETS, config
from support.ledger import judge, read
from support.provider_side import ProviderSide
from support.recorded_backend import RecordedBackend

# No retry waits long, and none is the last one.
DESTINATION = {"retry": {"first": "50ms", "max": "500ms", "attempts": 200}}
ACKNOWLEDGED_MAX = 300   # between two kills; the number is drawn
HELD_MAX = 8             # attempts in flight; the destination's concurrency is twice that
DRAIN_SPREAD = 0.05      # seconds; a drain under load takes about half of it
RELOAD_SPREAD = 0.05     # seconds
STOP_SPREAD = 0.2        # seconds; far from any lease
CHECKPOINT_SECONDS = 5   # for one that does not come: then the moment is just another one
FORGOTTEN_MIN = 100      # more than the backend may hold
LOOK_SECONDS = 0.0005    # between two looks at the database file


class Cycle:
    """One life of the gateway, up to the kill. `chance` makes all choices."""

    def __init__(self, gateway, backend, ledger, provider, chance, start_takes):
        self.gateway = gateway
        self.backend = backend
        self.ledger = ledger
        self.provider = provider
        self.chance = chance
        self.start_takes = start_takes  # seconds, as measured on this machine

    def begin(self):
        self.gateway.start()
        self.provider.point_at(self.gateway.ingest)

    def some_acknowledged(self):
        enough = self.ledger.acknowledged + self.chance.randrange(1, ACKNOWLEDGED_MAX)
        assert self.ledger.wait_for(lambda: self.ledger.acknowledged >= enough), self.gateway.log()

    def killed(self, moment):
        """Whether it was the kill that ended the process."""
        self.gateway.kill()
        self.provider.point_at(None)
        self.backend.let_go()
        if self.gateway.process.returncode != -signal.SIGKILL:
            return False
        self.ledger.write("killed", moment=moment)
        return True


def stripe_side(ledger, seed):
    return ProviderSide(ledger, "/in/stripe", lambda key: senders.stripe(SECRETS["stripe"], key), seed)


def under_load(cycle):
    cycle.begin()
    cycle.some_acknowledged()


def while_starting(cycle):
    """Recovery of the store, ending the dead instance's leases, listening, the first moments after."""
    cycle.gateway.launch()
    if cycle.gateway.ready_within(cycle.chance.uniform(0, 2 * cycle.start_takes)):
        cycle.provider.point_at(cycle.gateway.ingest)


def hold_some(cycle):
    cycle.backend.hold()
    assert cycle.backend.wait_for_held(cycle.chance.randrange(1, HELD_MAX)), cycle.gateway.log()


def while_the_backend_is_slow(cycle):
    cycle.begin()
    cycle.some_acknowledged()
    hold_some(cycle)


def while_draining(cycle):
    cycle.begin()
    cycle.some_acknowledged()
    if cycle.chance.random() < 0.5:
        hold_some(cycle)  # which makes the drain last
    cycle.gateway.process.send_signal(signal.SIGTERM)
    try:
        cycle.gateway.process.wait(cycle.chance.uniform(0, DRAIN_SPREAD))
    except subprocess.TimeoutExpired:
        pass


def while_checkpointing(cycle):
    """The database file itself is written by checkpoints alone."""
    cycle.begin()
    cycle.some_acknowledged()
    database = cycle.gateway.directory / "inbox.db"
    before = os.stat(database).st_mtime_ns
    end = time.monotonic() + CHECKPOINT_SECONDS
    while os.stat(database).st_mtime_ns == before and time.monotonic() < end:
        cycle.ledger.wait_for(lambda: False, LOOK_SECONDS)


def while_stopped(cycle):
    cycle.begin()
    cycle.some_acknowledged()
    cycle.gateway.process.send_signal(signal.SIGSTOP)
    cycle.ledger.wait_for(lambda: False, cycle.chance.uniform(0, STOP_SPREAD))


def while_reloading(cycle):
    cycle.begin()
    cycle.some_acknowledged()
    cycle.gateway.process.send_signal(signal.SIGHUP)
    cycle.ledger.wait_for(lambda: False, cycle.chance.uniform(0, RELOAD_SPREAD))


MOMENTS = [under_load, while_starting, while_the_backend_is_slow, while_draining, while_checkpointing, while_stopped,
           while_reloading]


def in_turn(chance):
    """All moments in a drawn order, then all of them in another one, for ever: a short run has each of them too."""
    while True:
        yield from chance.sample(MOMENTS, len(MOMENTS))


def test_kill_9_at_any_moment_loses_nothing_accepts_nothing_twice_and_leaves_nothing_stuck(start, ledger, seed, verdict, pytestconfig):
    kills_wanted = pytestconfig.getoption("--cycles")
    began = time.monotonic()
    chance = random.Random(seed)
    kills = dict.fromkeys((moment.__name__ for moment in MOMENTS), 0)
    with RecordedBackend(ledger, seed) as backend:
        launched = time.monotonic()
        gateway = start(config(backend.url, "stripe", destination=DESTINATION))
        start_takes = time.monotonic() - launched
        gateway.kill()  # So that every cycle begins alike.
        with stripe_side(ledger, seed) as provider:
            cycle = Cycle(gateway, backend, ledger, provider, chance, start_takes)
            moments = in_turn(chance)
            while sum(kills.values()) < kills_wanted:
                moment = next(moments)
                moment(cycle)
                kills[moment.__name__] += cycle.killed(moment.__name__)
                if sum(kills.values()) % 20 == 0:
                    print(f"{sum(kills.values())} of {kills_wanted} kills, {ledger.acknowledged} answers, {time.monotonic() - began:.0f} s")
            backend.heal()
            cycle.begin()
            provider.finish()
        found = verdict(gateway)
    assert found["kills"] == kills_wanted and found["acknowledged"] > kills_wanted
    print(f"{found['kills']} kills ({', '.join(f'{count} {name}' for name, count in kills.items())}): {found['acknowledged']} events "
          f"acknowledged by {found['answers']} answers to {found['requests']} requests; none lost, none accepted twice, none stuck; "
          f"{found['doubles']} delivered again under the same key; {time.monotonic() - began:.0f} s")


def test_the_driver_finds_what_a_disk_forgets(start, ledger, seed, record_shown):
    """The canary of the test above: one life of the gateway is taken from its disk after the kill."""
    with RecordedBackend(ledger, seed) as backend:
        gateway = start(config(backend.url, "stripe", destination=DESTINATION))
        gateway.kill()
        kept = shutil.copytree(gateway.directory, gateway.directory / "kept", ignore=shutil.ignore_patterns("ledger.jsonl"))
        backend.hold()
        with stripe_side(ledger, seed) as provider:
            gateway.start()
            provider.point_at(gateway.ingest)
            assert ledger.wait_for(lambda: ledger.acknowledged >= FORGOTTEN_MIN), gateway.log()
            gateway.kill()
            provider.point_at(None)
            for file in gateway.directory.glob("inbox.db*"):
                file.unlink()
            shutil.copytree(kept, gateway.directory, dirs_exist_ok=True)
            backend.heal()
            gateway.start()
            provider.point_at(gateway.ingest)
            provider.finish()
        record_shown(gateway)
    faults = judge(read(ledger.path))
    assert {"lost", "forgotten"} <= set(faults), faults
