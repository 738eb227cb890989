"""A backend that records every request byte for byte and answers as it is told. Its waiting calls return on an event, not on time.

    with Backend() as backend:
        backend.answer_with(lambda request, nth: 500 if nth <= 2 else 200)   # nth request of this event id, from 1
        ...
        backend.wait_for(1)
"""
import json
import socket
import threading

WAIT_SECONDS = 60  # a bound for a broken program, never a pace


class Request:
    def __init__(self, method, path, headers, body):
        self.method = method
        self.path = path
        self.headers = headers  # list of pairs as they came
        self.body = body

    def header(self, name, default=None):
        return next((value for key, value in self.headers if key.lower() == name.lower()), default)

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    @property
    def event(self):
        return self.header("Hookonce-Event")

    @property
    def provider_id(self):
        if self.header("X-GitHub-Delivery"):
            return self.header("X-GitHub-Delivery")
        try:
            document = json.loads(self.body)
            return document.get("event_id") or document.get("id") or self.header("Webhook-Id")
        except (ValueError, AttributeError):
            return self.header("Webhook-Id")


class Backend:
    def __init__(self, address="127.0.0.1:0"):
        host, port = address.rsplit(":", 1)
        self.requests = []
        self.effects = {}        # provider's id -> answers that were 2xx
        self._attempts = {}      # provider's id -> requests
        self._policy = lambda request, nth: 200
        self._changed = threading.Condition()
        self._open = set()
        self._stopping = False
        self._listener = socket.create_server((host, int(port)), backlog=512)
        self.address = "%s:%d" % self._listener.getsockname()[:2]
        self.url = f"http://{self.address}/"
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._stopping = True
        # shutdown() first: close() alone leaves a thread in accept() holding the port.
        try:
            self._listener.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._listener.close()
        with self._changed:
            connections = list(self._open)
        for connection in connections:
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def answer_with(self, policy):
        """policy(request, nth) -> a status, (status, headers, body), or None to close the connection without an answer."""
        self._policy = policy

    def wait_for(self, count, seconds=WAIT_SECONDS):
        """Until `count` requests have been answered; returns them."""
        return self.wait_until(lambda: len(self.requests) >= count, seconds)

    def wait_until(self, condition, seconds=WAIT_SECONDS):
        with self._changed:
            assert self._changed.wait_for(condition, seconds), \
                f"waited in vain; {len(self.requests)} requests, effects {dict(list(self.effects.items())[:5])}"
            return list(self.requests)

    def _accept(self):
        while not self._stopping:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            with self._changed:
                self._open.add(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            stream = connection.makefile("rb")
            while self._one(connection, stream):
                pass
        except OSError:
            pass
        finally:
            with self._changed:
                self._open.discard(connection)
            connection.close()

    def _one(self, connection, stream):
        line = stream.readline()
        if not line:
            return False
        method, path, _ = line.decode("latin-1").split(" ", 2)
        headers = []
        while (line := stream.readline().rstrip(b"\r\n")):
            name, value = line.decode("latin-1").split(":", 1)
            headers.append((name, value.strip(" \t")))
        request = Request(method, path, headers, b"")
        request.body = stream.read(int(request.header("Content-Length", "0")))
        key = request.provider_id
        with self._changed:
            self._attempts[key] = nth = self._attempts.get(key, 0) + 1
        answer = self._policy(request, nth)
        status, extra, body = answer if isinstance(answer, tuple) else (answer, [], b"")
        with self._changed:
            self.requests.append(request)
            if status is not None and 200 <= status < 300:
                self.effects[key] = self.effects.get(key, 0) + 1
            self._changed.notify_all()
        if status is None:
            return False
        lines = [f"HTTP/1.1 {status} Answer", f"Content-Length: {len(body)}"] + [f"{name}: {value}" for name, value in extra]
        connection.sendall("\r\n".join(lines).encode() + b"\r\n\r\n" + body)
        return True
