"""The stores that several gateways share, as the tests of the real binary use them.

    @pytest.mark.parametrize("shared_url", SCHEMES, indirect=True)
    def test_...(shared_url): ...           # an empty inbox

tools/with_servers.py starts the servers once for a whole run; without it each run of pytest starts its own.
"""
import os
import uuid

import pytest

from support import redis_server
from support.postgres_server import PgBouncer, PostgresServer, ServerMissing

SCHEMES = ["postgres", "pgbouncer", "redis"]


def missing(why):
    """Skips aloud, and fails where nothing may be skipped."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{why}; CI skips nothing")
    pytest.skip(str(why))


class PostgresStores:
    """PostgreSQL and PgBouncer, started when first asked for."""

    def __init__(self):
        self.server = self.bouncer = None

    def url(self, scheme):
        name = {"postgres": "HOOKONCE_TEST_POSTGRES", "pgbouncer": "HOOKONCE_TEST_PGBOUNCER"}[scheme]
        if not os.environ.get(name) and self.server is None:
            self.server = PostgresServer()
            self.bouncer = PgBouncer(self.server)
            os.environ.update(HOOKONCE_TEST_POSTGRES=self.server.url(), HOOKONCE_TEST_PGBOUNCER=self.bouncer.url())
        return f"{os.environ[name]}?schema=test_{uuid.uuid4().hex}"

    def close(self):
        if self.server is not None:
            self.bouncer.close()
            self.server.close()


class RedisStores:
    """Redis, started when first asked for."""

    def __init__(self):
        self.server = None

    def url(self, _scheme):
        if not os.environ.get("HOOKONCE_TEST_REDIS"):
            self.server = redis_server.RedisServer()
            os.environ["HOOKONCE_TEST_REDIS"] = self.server.url()
        return f"{os.environ['HOOKONCE_TEST_REDIS']}/?prefix=test-{uuid.uuid4().hex}"

    def close(self):
        if self.server is not None:
            self.server.close()


def empty_inbox(stores, scheme):
    """The URL of an inbox that nobody else uses."""
    try:
        return stores[scheme].url(scheme)
    except (ServerMissing, redis_server.ServerMissing) as why:
        return missing(why)
