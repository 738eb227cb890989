"""A throw-away Redis on a port of its own on the loopback interface, with the settings that keep what was acknowledged.

    with RedisServer() as server:
        run(server.url("a_test_of_its_own"))
        server.kill()
        server.start()

Everything lies in a temporary folder and is stopped by its process id. Where the program is not installed, the constructor raises
ServerMissing.
"""
import pathlib
import shutil
import signal
import socket
import subprocess
import tempfile
import time

START_SECONDS = 60  # bounds for a broken server, never a pace
DURABLE = {"appendonly": "yes", "appendfsync": "always", "no-appendfsync-on-rewrite": "no", "maxmemory-policy": "noeviction"}


class ServerMissing(Exception):
    """The program is not installed on this machine."""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class RedisServer:
    def __init__(self, settings=None, password=None):
        """`settings` go over the durable ones."""
        self.program = shutil.which("redis-server") or shutil.which("redis-server", path="/usr/bin:/usr/local/bin")
        if not self.program:
            raise ServerMissing("Redis is not installed (package redis-server)")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="hookonce-redis-"))
        self.port = free_port()
        self.password = password
        self.settings = {"bind": "127.0.0.1", "port": self.port, "dir": str(self.folder), "save": '""', "daemonize": "no",
                         "logfile": str(self.folder / "log"), **DURABLE, **(settings or {})}
        if password:
            self.settings["requirepass"] = password
        self.process = None
        self.start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def start(self):
        (self.folder / "redis.conf").write_text("".join(f"{name} {value}\n" for name, value in self.settings.items()))
        self.process = subprocess.Popen([self.program, str(self.folder / "redis.conf")], cwd=self.folder, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL)
        end = time.monotonic() + START_SECONDS
        while True:
            try:
                answer = self.command("PING")
                if answer == "PONG":
                    return
            except OSError:
                pass
            assert self.process.poll() is None and time.monotonic() < end, f"Redis does not start:\n{self.log()}"
            time.sleep(0.02)

    def kill(self):
        """As power loss would end it, but for what the kernel still writes."""
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
            self.process.wait(START_SECONDS)

    def restart(self):
        """A crash and a start on the same port, with what the append-only file kept."""
        self.kill()
        self.start()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def log(self):
        try:
            return (self.folder / "log").read_text(errors="replace")[-5000:]
        except OSError:
            return "(no log)"

    def command(self, *arguments):
        """One command over a connection of its own: the answer as text, number, None or list. An error is raised."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=START_SECONDS) as connection:
            stream = connection.makefile("rwb")
            if self.password:
                self._send(stream, ("AUTH", self.password))
                self._answer(stream)
            self._send(stream, arguments)
            return self._answer(stream)

    @staticmethod
    def _send(stream, arguments):
        parts = [argument if isinstance(argument, bytes) else str(argument).encode() for argument in arguments]
        stream.write(b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%s\r\n" % (len(part), part) for part in parts))
        stream.flush()

    @classmethod
    def _answer(cls, stream):
        line = stream.readline()
        if not line:
            raise ConnectionError("the server closed the connection")
        kind, rest = line[:1], line[1:-2].decode(errors="replace")
        if kind == b"-":
            if rest.startswith("LOADING"):
                raise ConnectionError(rest)
            raise ValueError(rest)
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if int(rest) < 0:
            return None
        if kind == b"*":
            return [cls._answer(stream) for _ in range(int(rest))]
        return stream.read(int(rest) + 2)[:-2].decode(errors="replace")

    def url(self, prefix=None, options=""):
        credentials = f":{self.password}@" if self.password else ""
        query = "&".join(part for part in (f"prefix={prefix}" if prefix else "", options) if part)
        return f"redis://{credentials}127.0.0.1:{self.port}" + (f"/?{query}" if query else "")
