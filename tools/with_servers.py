#!/usr/bin/env python3
"""Runs a command beside the servers that the shared stores' tests need, each named in the environment.

usage: tools/with_servers.py COMMAND [ARGUMENTS]

HOOKONCE_TEST_POSTGRES   a PostgreSQL
HOOKONCE_TEST_PGBOUNCER  PgBouncer in transaction mode in front of it
HOOKONCE_TEST_REDIS      a Redis with the settings that keep what was acknowledged

Each is a throw-away one on a port of its own. A variable that is set already stays as it is. What is not installed is said
aloud, and its tests are skipped; with CI=true they fail.
"""
import contextlib
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test"))

from support import postgres_server, redis_server  # noqa: E402


def start(environment, name, missing, server):
    """Puts the URL that `server` yields into the environment, unless the name is taken."""
    if os.environ.get(name):
        return
    try:
        environment[name] = server()
    except missing as error:
        print(f"x: {error}; its tests are skipped", flush=True)


def with_postgres(environment, stack):
    """The pooler stands in front of the server that is started here, so they come together."""
    missing = postgres_server.ServerMissing
    running = []
    start(environment, "HOOKONCE_TEST_POSTGRES", missing,
          lambda: running.append(stack.enter_context(postgres_server.PostgresServer())) or running[0].url())
    if running:
        start(environment, "HOOKONCE_TEST_PGBOUNCER", missing,
              lambda: stack.enter_context(postgres_server.PgBouncer(running[0])).url())


@contextlib.contextmanager
def servers():
    """The variables that name the servers, which run as long as the block."""
    with contextlib.ExitStack() as stack:
        environment = {}
        with_postgres(environment, stack)
        start(environment, "HOOKONCE_TEST_REDIS", redis_server.ServerMissing,
              lambda: stack.enter_context(redis_server.RedisServer()).url())
        yield environment


def main():
    if len(sys.argv) < 2:
        print(__doc__.strip(), file=sys.stderr)
        return 2
    with servers() as environment:
        return subprocess.run(sys.argv[1:], env={**os.environ, **environment}, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
