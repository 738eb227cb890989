"""What a user would otherwise run, as a competent user would set it up; each peer with two workers and a fresh database.

  fastapi_redis    FastAPI on uvicorn (uvloop, httptools), Redis (hiredis) with `appendfsync always`: `SET NX EX`, then background work
  django_postgres  Django on gunicorn (gthread, the faster of its classes here), PostgreSQL with synchronous commits: get_or_create
  webhook          the program `webhook` with an HMAC rule that runs /bin/true: no duplicates found, nothing durable

Each is a context manager that yields a load.Server and stops what it started when it is left. Databases lie where the system's temporary
files do (tempfile.tempdir).
"""
import contextlib
import os
import pathlib
import shutil
import subprocess

import databases
from load import SECRET, BenchError, Server, await_listening, free_port, stopping

HERE = pathlib.Path(__file__).resolve().parent

PYTHON = "/usr/bin/python3"  # the distribution's, whose packages these are
WORKERS = 2


def _program(name, package):
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/bin")
    if found is None:
        raise BenchError(f"{name} is not installed (./x bench installs it: {package})")
    return found


@contextlib.contextmanager
def _running(command, port, log, folder=None, **environment):
    """The started program, listening."""
    with open(log, "wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, stdin=subprocess.DEVNULL, cwd=folder,
                                   env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment})
    with stopping(process):
        await_listening(process, port, log)
        yield process


@contextlib.contextmanager
def fastapi_redis(directory):
    home = directory / "fastapi_redis"
    home.mkdir()
    with databases.redis() as redis:
        port = free_port()
        command = [PYTHON, "-m", "uvicorn", "app:app", "--host", "127.0.0.1", "--port", str(port), "--workers", str(WORKERS),
                   "--loop", "uvloop", "--http", "httptools", "--no-access-log", "--log-level", "warning"]
        with _running(command, port, home / "log", HERE / "fastapi_redis", STRIPE_SECRET=SECRET,
                      REDIS_URL=redis.url) as process:
            yield Server("fastapi", port, [process.pid, redis.pid])
    shutil.rmtree(home)


@contextlib.contextmanager
def django_postgres(directory):
    home = directory / "django_postgres"
    home.mkdir()
    with databases.postgres() as postgres:
        port = free_port()
        environment = {"STRIPE_SECRET": SECRET, **postgres.environment}
        made = subprocess.run([PYTHON, "-c", "import inbox; inbox.create_tables()"], cwd=HERE / "django_postgres", text=True,
                              env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1", **environment}, capture_output=True)
        if made.returncode != 0:
            raise BenchError(f"django_postgres did not make its table:\n{made.stderr[-2000:]}")
        command = [_program("gunicorn", "gunicorn"), "--workers", str(WORKERS), "--worker-class", "gthread", "--threads", "8",
                   "--keep-alive", "75", "--bind", f"127.0.0.1:{port}", "--log-level", "warning", "inbox:application"]
        with _running(command, port, home / "log", HERE / "django_postgres", **environment) as process:
            yield Server("django", port, [process.pid, postgres.pid])
    shutil.rmtree(home)


@contextlib.contextmanager
def webhook(directory):
    home = directory / "webhook"
    home.mkdir()
    port = free_port()
    command = [_program("webhook", "webhook"), "-hooks", str(HERE / "webhook" / "hooks.json"), "-ip", "127.0.0.1",
               "-port", str(port), "-urlprefix", "in"]
    with _running(command, port, home / "log") as process:
        yield Server("webhook", port, [process.pid], scheme="body")
    shutil.rmtree(home)
