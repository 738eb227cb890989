"""The official SDKs, each language in a process of its own, and web applications under their real servers.

    with SdkProcess("node") as node:
        headers = node.sign("stripe", secret, "evt_1", body)
        node.verify("stripe", secret, request.headers, request.body)     # None, or why the SDK refuses

`./x test sdk` prepares what this needs; `moved` (see faketime_environment) moves a process's clock.
"""
import base64
import json
import os
import pathlib
import socket
import subprocess
import threading

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
PREPARED = ROOT / "build" / "tools" / "sdk"
SDK = ROOT / "test" / "sdk"
PYTHON = PREPARED / "bin" / "python"
COMMANDS = {"node": [PREPARED / "bin" / "node", SDK / "node_sdks.mjs"], "python": [PYTHON, SDK / "python_sdks.py"]}
ANSWER_SECONDS = 180  # bounds for a broken program, never a pace; the first answer waits for the SDKs to load
STOP_SECONDS = 60


def faketime_environment(offset):
    """The variables under which a program sees the time of day moved by `offset` ("+10m"); what it measures stays as it is."""
    library = subprocess.run(["faketime", "-f", offset, "printenv", "LD_PRELOAD"], check=True, capture_output=True, text=True).stdout.strip()
    return {"LD_PRELOAD": library, "FAKETIME": offset, "FAKETIME_DONT_FAKE_MONOTONIC": "1", "DONT_FAKE_MONOTONIC": "1"}


class SdkProcess:
    def __init__(self, language, moved=None):
        assert (PREPARED / "stamp").exists(), "the SDKs are not there; ./x test sdk prepares them"
        self._process = subprocess.Popen(COMMANDS[language], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                         env={**os.environ, **(moved or {})})

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._process.stdin.close()  # which ends it
        self._process.wait(STOP_SECONDS)
        self._process.stdout.close()

    def ask(self, **request):
        timer = threading.Timer(ANSWER_SECONDS, self._process.kill)
        timer.start()
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        timer.cancel()
        assert line, f"no answer to {request['do']} {request['sdk']}"
        return json.loads(line)

    def sign(self, sdk, secret, event_id, body):
        """A message as the senders make it: (headers, body)."""
        headers = self.ask(do="sign", sdk=sdk, secret=secret, id=event_id, body=base64.b64encode(body).decode())["headers"]
        return [("Content-Type", "application/json"), *headers.items()], body

    def verify(self, sdk, secret, headers, body):
        """None where the SDK accepts, else its reason."""
        answer = self.ask(do="verify", sdk=sdk, secret=secret, headers={name.lower(): value for name, value in headers},
                          body=base64.b64encode(body).decode())
        return None if answer["accepted"] else answer["why"]


class Application:
    """A web application in its own process, in `directory`, behind a socket that listens before it starts: nothing waits for readiness."""

    def __init__(self, server, application, directory, search, environment):
        listener = socket.create_server(("127.0.0.1", 0), backlog=512)
        self.address = "%s:%d" % listener.getsockname()
        self.log_file = pathlib.Path(directory) / f"{server}.log"
        number = str(listener.fileno())
        command = {
            # A thread per copy that a test fires at once, so that none waits for another's end.
            "gunicorn": ["-m", "gunicorn", "--threads", "32", "--bind", f"fd://{number}", application],
            "uvicorn": ["-m", "uvicorn", "--fd", number, application],
        }[server]
        with open(self.log_file, "ab") as log:
            self._process = subprocess.Popen([PYTHON, *command], cwd=directory, stdout=log, stderr=log, pass_fds=[listener.fileno()],
                                             env={**os.environ, "PYTHONPATH": str(search), **environment})
        listener.close()

    def log(self):
        return self.log_file.read_text(errors="replace")[-5000:]

    def kill(self):
        """As power loss would end it. Stopping it afterwards is harmless."""
        self._process.kill()
        self._process.wait()

    def stop(self):
        self._process.terminate()
        try:
            self._process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
