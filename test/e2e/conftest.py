"""Several gateways on one inbox."""
import signal

import pytest

from support.gateway import Gateway
from support.shared_stores import SCHEMES, PostgresStores, RedisStores, empty_inbox


@pytest.fixture(scope="session")
def stores():
    postgres, redis = PostgresStores(), RedisStores()
    yield {"postgres": postgres, "pgbouncer": postgres, "redis": redis}
    postgres.close()
    redis.close()


@pytest.fixture(params=SCHEMES)
def shared_url(request, stores):
    return empty_inbox(stores, request.param)


@pytest.fixture
def join(binary, tmp_path):
    """join(name, tables) starts a gateway with a folder of its own; all are stopped at the end."""
    running = []

    def begin(name, tables, **options):
        folder = tmp_path / name
        folder.mkdir()
        gateway = Gateway(binary, folder, tables, **options)
        running.append(gateway)
        return gateway

    yield begin
    for gateway in running:
        if gateway.process.poll() is None:
            gateway.process.send_signal(signal.SIGCONT)
        gateway.stop(expected=None)
