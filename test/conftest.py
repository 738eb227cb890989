"""Fixtures of all tests that run the real binary. HOOKONCE_BINARY names it; by default the release build."""
import os
import pathlib
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test"))

from support.backend import Backend  # noqa: E402
from support.gateway import Gateway, config  # noqa: E402


def pytest_addoption(parser):
    parser.addoption("--repeat", type=int, default=5, help="twins: how often")
    parser.addoption("--cycles", type=int, default=14, help="crash: how many kills; half as many power cuts")
    parser.addoption("--hammers", type=int, default=1, help="sdk: how often the naive backends are hammered")


@pytest.fixture(scope="session")
def binary():
    path = pathlib.Path(os.environ.get("HOOKONCE_BINARY", ROOT / "build/release/hookonce"))
    assert path.exists(), f"{path} is not built; ./x build makes it"
    return path.resolve()


@pytest.fixture
def backend():
    with Backend() as running:
        yield running


@pytest.fixture
def start(binary, tmp_path):
    """start(tables) starts a gateway in the test's directory; all that were started are stopped at the end."""
    running = []

    def begin(tables, **options):
        gateway = Gateway(binary, tmp_path, tables, **options)
        running.append(gateway)
        return gateway

    yield begin
    for gateway in running:
        gateway.stop(expected=None)


@pytest.fixture
def gateway(start, backend):
    """A gateway with all four signed providers in front of `backend`, with quick retries."""
    return start(config(backend.url, "stripe", "slack", "github", "standard_webhooks",
                        destination={"retry": {"first": "50ms", "max": "200ms", "attempts": 20, "give_up": "1h"}}))
