"""A process stands still (SIGSTOP) for longer than it may: the gateway past its leases, the backend past the timeout. Then it goes on, or dies.

As in test_crash.py a provider and a backend write a ledger, and the judge reads it. Only the stop past a lease takes real time: it is
what is tested, and the configuration allows no lease below timeout + 5 s.
"""
import random
import signal
import subprocess
import sys
import time

import pytest

from support import recorded_backend, senders
from support.gateway import SECRETS, config
from support.provider_side import ProviderSide
from support.recorded_backend import RecordedBackend

CONCURRENCY = 16
# No retry waits long, and none is the last one.
DESTINATION = {"concurrency": CONCURRENCY, "timeout": "1s", "retry": {"first": "50ms", "max": "500ms", "attempts": 200}}
# Only where a lease is to run out: a slow disk must not make it do so elsewhere.
LEASE_SECONDS = 6
SHORT_LEASE = {**DESTINATION, "lease": f"{LEASE_SECONDS}s"}
ACKNOWLEDGED_MAX = 200   # between two stops; the number is drawn
IN_FLIGHT_MIN = 4        # when the gateway stops
CYCLES_PER_ROUND = 50    # of --cycles: a round takes more than a lease


@pytest.fixture
def rounds(pytestconfig):
    return 1 + pytestconfig.getoption("--cycles") // CYCLES_PER_ROUND


def some_acknowledged(ledger, chance, gateway):
    enough = ledger.acknowledged + chance.randrange(1, ACKNOWLEDGED_MAX)
    assert ledger.wait_for(lambda: ledger.acknowledged >= enough), gateway.log()


def pass_time(ledger, seconds):
    """There is nothing to look at while the process that is tested stands still."""
    end = time.monotonic() + seconds
    ledger.wait_for(lambda: time.monotonic() >= end, seconds)


def stop_past_its_leases(gateway, backend, ledger):
    """With attempts in flight; while the gateway stands still the backend answers them."""
    backend.hold()
    assert backend.wait_for_held(IN_FLIGHT_MIN), gateway.log()
    gateway.process.send_signal(signal.SIGSTOP)
    ledger.write("stopped", moment="gateway", past_lease=True)
    backend.let_go()
    pass_time(ledger, LEASE_SECONDS + 0.5)


def go_on(gateway, ledger, _):
    gateway.process.send_signal(signal.SIGCONT)
    ledger.write("continued", moment="gateway")


def die(gateway, ledger, provider):
    gateway.kill()
    ledger.write("killed", moment="stop")
    provider.point_at(None)
    gateway.start()
    provider.point_at(gateway.ingest)


def stripe_side(ledger, seed, **options):
    return ProviderSide(ledger, "/in/stripe", lambda key: senders.stripe(SECRETS["stripe"], key), seed, **options)


@pytest.mark.parametrize("end", [go_on, die])
def test_a_gateway_stopped_past_its_leases_loses_nothing_and_leaves_nothing_stuck(start, ledger, seed, verdict, rounds, end):
    chance = random.Random(seed)
    with RecordedBackend(ledger, seed) as backend:
        gateway = start(config(backend.url, "stripe", destination=SHORT_LEASE))
        with stripe_side(ledger, seed) as provider:
            provider.point_at(gateway.ingest)
            for _ in range(rounds):
                some_acknowledged(ledger, chance, gateway)
                stop_past_its_leases(gateway, backend, ledger)
                end(gateway, ledger, provider)
                some_acknowledged(ledger, chance, gateway)
            backend.heal()
            provider.finish()
        found = verdict(gateway)
    print(f"{rounds} stops past all leases: {found['acknowledged']} events acknowledged; none lost, none accepted twice, none stuck; "
          f"{found['doubles']} delivered again under the same key")


@pytest.fixture
def backend_process(ledger, seed):
    process = subprocess.Popen([sys.executable, recorded_backend.__file__, ledger.path, str(seed)], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    process.url = process.stdout.readline().strip()
    yield process
    process.send_signal(signal.SIGCONT)
    process.stdin.close()
    process.wait()
    process.stdout.close()


def test_a_backend_stopped_past_the_timeout_gets_every_event_when_it_goes_on(start, ledger, seed, verdict, rounds, backend_process):
    chance = random.Random(seed)
    gateway = start(config(backend_process.url, "stripe", destination=DESTINATION))
    failed = 'hookonce_attempts_total{outcome="failed"}'
    # What the backend does is in the file, and not known here.
    with stripe_side(ledger, seed, owed_max=None) as provider:
        provider.point_at(gateway.ingest)
        for _ in range(rounds):
            some_acknowledged(ledger, chance, gateway)
            before = gateway.metric(failed)
            backend_process.send_signal(signal.SIGSTOP)
            ledger.write("stopped", moment="backend")
            gateway.wait_until(lambda: gateway.metric(failed) > before + CONCURRENCY)
            if chance.random() < 0.5:
                die(gateway, ledger, provider)
            some_acknowledged(ledger, chance, gateway)  # A backend that stands still keeps nobody from being heard.
            backend_process.send_signal(signal.SIGCONT)
            ledger.write("continued", moment="backend")
        provider.finish()
    found = verdict(gateway)
    print(f"{rounds} stops of the backend: {found['acknowledged']} events acknowledged; none lost, none accepted twice, none stuck; "
          f"{found['doubles']} delivered again under the same key")
