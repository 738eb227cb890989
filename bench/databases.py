"""Throw-away databases that make every write durable before they answer, as test/support starts them.

    with databases.postgres() as database:
        run(database.url, database.pid)

They lie where the system's temporary files do (tempfile.tempdir) and are stopped and removed when the block is left.
"""
import contextlib
import dataclasses
import pathlib
import sys
import tempfile

from load import BenchError

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "test"))  # support/ has the database servers

INBOX = "bench"
# A run of some seconds must not be what meets the checkpoint; PostgreSQL's own 1 GB are less than a minute here.
POSTGRES = {"synchronous_commit": "on", "fsync": "on", "shared_buffers": "256MB", "max_wal_size": "4GB",
            "unix_socket_directories": ""}  # no socket file: its path would be too long in a deep folder
# Likewise the append-only file is not rewritten: it would fall into some runs and not into others.
REDIS = {"auto-aof-rewrite-percentage": "0"}


@dataclasses.dataclass
class Database:
    pid: int               # of it and its descendants is all CPU time
    url: str               # without the name of an inbox
    inbox_url: str         # a gateway's store.url
    client_options: list   # how the bare client finds the inbox
    environment: dict = dataclasses.field(default_factory=dict)  # how a peer finds it


@contextlib.contextmanager
def postgres():
    from support import postgres_server  # here, because who needs the one need not have the other installed
    try:
        server = postgres_server.PostgresServer(POSTGRES)
    except (postgres_server.ServerMissing, AssertionError) as error:
        raise BenchError(f"PostgreSQL does not start in {tempfile.gettempdir()} (--dir names another place): {error}") from error
    with server:
        yield Database(server.process.pid, server.url(), server.url(INBOX), ["--postgres", server.url(), "--inbox", INBOX],
                       {"DATABASE_HOST": "127.0.0.1", "DATABASE_PORT": str(server.port), "DATABASE_NAME": postgres_server.DATABASE,
                        "DATABASE_USER": postgres_server.USER, "DATABASE_PASSWORD": postgres_server.PASSWORD})


@contextlib.contextmanager
def redis():
    from support import redis_server
    try:
        server = redis_server.RedisServer(REDIS)
    except (redis_server.ServerMissing, AssertionError) as error:
        raise BenchError(f"Redis does not start in {tempfile.gettempdir()}: {error}") from error
    with server:
        yield Database(server.process.pid, server.url(), server.url(INBOX), ["--redis", str(server.port), "--inbox", INBOX])
