"""A throw-away PostgreSQL, and PgBouncer in transaction mode in front of one, on ports of their own on the loopback interface.

    with PostgresServer() as server, PgBouncer(server) as bouncer:
        run(server.url("test"), bouncer.url("test"))
        server.restart("immediate")

Everything lies in a temporary folder and is stopped by its process id. PostgreSQL refuses to run as root, so as root it runs as the
user that its package made. Where the programs are not installed, the constructors raise ServerMissing.
"""
import glob
import os
import pathlib
import pwd
import shutil
import signal
import socket
import subprocess
import tempfile
import time

START_SECONDS = 60  # bounds for a broken server, never a pace
USER = "hookonce"
PASSWORD = "sample-password"
DATABASE = "inbox"


class ServerMissing(Exception):
    """The program is not installed on this machine."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _account():
    """The account that the servers run as: nobody's own where this process is root's."""
    if os.geteuid() != 0:
        return None
    try:
        return pwd.getpwnam("postgres")
    except KeyError as error:
        raise ServerMissing("PostgreSQL does not run as root, and there is no user postgres") from error


def _as_account(account):
    if account is None:
        return {}
    return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}


def _folder(prefix, account):
    folder = pathlib.Path(tempfile.mkdtemp(prefix=prefix))
    if account is not None:
        os.chown(folder, account.pw_uid, account.pw_gid)
    return folder


def _programs():
    """The folder with initdb and postgres: Debian keeps them by version, out of the path."""
    versions = glob.glob("/usr/lib/postgresql/*/bin/initdb")
    versions.sort(key=lambda path: int(path.split("/")[4]))
    found = versions[-1] if versions else shutil.which("initdb")
    if not found:
        raise ServerMissing("PostgreSQL is not installed (package postgresql)")
    return pathlib.Path(os.path.realpath(found)).parent


class PostgresServer:
    def __init__(self, settings=None):
        """`settings` go over the defaults of a fresh cluster."""
        self.programs = _programs()
        self.account = _account()
        self.folder = _folder("hookonce-postgres-", self.account)
        self.data = self.folder / "data"
        self.port = free_port()
        self.settings = {"port": self.port, "listen_addresses": "127.0.0.1", "unix_socket_directories": str(self.folder),
                         "max_connections": 400, "shared_buffers": "64MB", "log_min_messages": "warning",
                         "timezone": "UTC", **(settings or {})}
        self.process = None
        password_file = self.folder / "password"
        password_file.write_text(PASSWORD + "\n")
        password_file.chmod(0o644)
        self._run("initdb", "-D", str(self.data), "-U", USER, "--pwfile", str(password_file), "-A", "scram-sha-256", "-E", "UTF8",
                  "--locale=C", "-N")
        self.start()
        self.create_database(DATABASE)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def _run(self, program, *arguments, check=True):
        done = subprocess.run([str(self.programs / program), *arguments], cwd=self.folder, capture_output=True, text=True,
                              env=self._environment(), check=False, **_as_account(self.account))
        assert not check or done.returncode == 0, f"{program}: {done.stdout}{done.stderr}"
        return done

    def _environment(self):
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.folder), "LC_ALL": "C", "PGPASSWORD": PASSWORD,
                "PGHOST": "127.0.0.1", "PGPORT": str(self.port), "PGUSER": USER}

    def start(self):
        lines = "".join(f"{name} = '{value}'\n" for name, value in self.settings.items())
        (self.data / "postgresql.auto.conf").write_text(lines)
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([str(self.programs / "postgres"), "-D", str(self.data)], stdout=log, stderr=log,
                                            cwd=self.folder, env=self._environment(), **_as_account(self.account))
        end = time.monotonic() + START_SECONDS
        while self._run("pg_isready", "-q", check=False).returncode != 0:
            assert self.process.poll() is None and time.monotonic() < end, f"PostgreSQL does not start:\n{self.log()}"
            time.sleep(0.05)

    def stop(self, mode="fast"):
        """`fast` ends the sessions; `immediate` is a crash, after which the next start replays the log."""
        if self.process is None or self.process.poll() is not None:
            return
        self.process.send_signal({"fast": signal.SIGINT, "immediate": signal.SIGQUIT}[mode])
        self.process.wait(START_SECONDS)

    def restart(self, mode="immediate"):
        self.stop(mode)
        self.start()

    def close(self):
        self.stop("immediate")
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")[-5000:]

    def sql(self, text, database=DATABASE):
        """Runs `text` and returns what psql prints of it, unaligned and without headings."""
        return self._run("psql", "-X", "-q", "-A", "-t", "-v", "ON_ERROR_STOP=1", "-d", database, "-c", text).stdout.strip()

    def create_database(self, name):
        self._run("createdb", name)

    def url(self, schema=None, database=DATABASE, user=USER, password=PASSWORD):
        return _url(self.port, schema, database, user, password)


class PgBouncer:
    """Transaction mode; as many server connections as it likes."""

    def __init__(self, server):
        self.program = shutil.which("pgbouncer") or shutil.which("pgbouncer", path="/usr/sbin:/usr/local/sbin")
        if not self.program:
            raise ServerMissing("PgBouncer is not installed (package pgbouncer)")
        self.account = _account()
        self.folder = _folder("hookonce-pgbouncer-", self.account)
        self.port = free_port()
        users = self.folder / "users.txt"
        users.write_text(f'"{USER}" "{PASSWORD}"\n')
        configuration = self.folder / "pgbouncer.ini"
        configuration.write_text(
            f"[databases]\n* = host=127.0.0.1 port={server.port}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {self.port}\n"
            f"unix_socket_dir =\nauth_type = scram-sha-256\nauth_file = {users}\npool_mode = transaction\ndefault_pool_size = 40\n"
            f"max_client_conn = 1000\nserver_login_retry = 0.1\n")
        self.process = None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        with open(self.folder / "log", "ab") as log:
            self.process = subprocess.Popen([self.program, str(self.folder / "pgbouncer.ini")], stdout=log, stderr=log,
                                            cwd=self.folder, **_as_account(self.account))
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < end, f"PgBouncer does not start:\n{self.log()}"
                time.sleep(0.05)

    def close(self):
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGQUIT)
            self.process.wait(START_SECONDS)
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        return (self.folder / "log").read_text(errors="replace")[-5000:]

    def url(self, schema=None, database=DATABASE, user=USER, password=PASSWORD):
        return _url(self.port, schema, database, user, password)


def _url(port, schema, database, user, password):
    url = f"postgres://{user}:{password}@127.0.0.1:{port}/{database}"
    return url + (f"?schema={schema}" if schema else "")
