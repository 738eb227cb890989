"""A small HTTP/1.1 client on a raw socket: sends exactly the bytes it is told and reads one answer at a time.

    with Connection("127.0.0.1:8080") as connection:
        answer = connection.request("POST", "/in/stripe", headers, body)
        assert answer.status == 200 and answer.json()["status"] == "accepted"
"""
import json
import socket


class Answer:
    def __init__(self, status, headers, body):
        self.status = status
        self.headers = headers  # list of pairs
        self.body = body

    def header(self, name, default=None):
        return next((value for key, value in self.headers if key.lower() == name.lower()), default)

    def json(self):
        return json.loads(self.body)

    @property
    def code(self):
        return self.json()["error"]["code"]

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:200]!r}>"


def request_bytes(method, path, headers, body, host="localhost"):
    lines = [f"{method} {path} HTTP/1.1"]
    names = {name.lower() for name, _ in headers}
    if "host" not in names:
        lines.append(f"Host: {host}")
    if "content-length" not in names and "transfer-encoding" not in names and (body or method != "GET"):
        lines.append(f"Content-Length: {len(body)}")
    lines += [f"{name}: {value}" if value else f"{name}:" for name, value in headers]
    return "\r\n".join(lines).encode("utf-8", "surrogateescape") + b"\r\n\r\n" + body


class Connection:
    def __init__(self, address, timeout=30):
        host, port = address.rsplit(":", 1)
        self.socket = socket.create_connection((host.strip("[]"), int(port)), timeout=timeout)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method, path, headers=(), body=b""):
        self.send(request_bytes(method, path, list(headers), body))
        return self.answer(head=method == "HEAD")

    def _fill(self):
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError(f"the server closed the connection; unread: {self.buffer!r}")
        self.buffer += data

    def answer(self, head=False):
        """Reads one answer; interim 1xx answers are answers too."""
        while b"\r\n\r\n" not in self.buffer:
            self._fill()
        raw, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        lines = raw.decode("latin-1").split("\r\n")
        status = int(lines[0].split(" ")[1])
        headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
        answer = Answer(status, headers, b"")
        if head or status < 200 or status in (204, 304):
            return answer
        length = int(answer.header("Content-Length", "0"))
        while len(self.buffer) < length:
            self._fill()
        answer.body, self.buffer = self.buffer[:length], self.buffer[length:]
        return answer

    def at_end(self):
        """Whether the server has closed: blocks until it closes or sends something."""
        if self.buffer:
            return False
        try:
            return self.socket.recv(1, socket.MSG_PEEK) == b""
        except ConnectionResetError:
            return True


def request(address, method, path, headers=(), body=b"", timeout=30):
    with Connection(address, timeout) as connection:
        return connection.request(method, path, headers, body)


def post(address, path, message, timeout=30):
    """Sends (headers, body) as made by senders.py."""
    headers, body = message
    return request(address, "POST", path, headers, body, timeout)
