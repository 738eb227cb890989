"""Stands in for the hosts that take late replies: an HTTP proxy that answers in the place of whatever it is asked to connect to, over TLS
with a certificate of its own authority for that name.

    with ResponseHost(folder) as host:
        late_reply = {"to": "response_url", "proxy": host.proxy, "ca_file": str(host.authority)}
        ...
        post = host.wait_for(1)[0]           # .target "hooks.slack.com:443", .path, .headers, .body
"""
import socket
import ssl
import subprocess
import threading

from support.backend import WAIT_SECONDS, Request


def _openssl(*arguments, cwd):
    subprocess.run(["openssl", *arguments], cwd=cwd, check=True, capture_output=True)


class ResponseHost:
    def __init__(self, folder, name="hooks.slack.com"):
        self.posts = []
        self.targets = []   # of every CONNECT, whatever came of it
        self._changed = threading.Condition()
        self.authority = folder / "ca.pem"
        key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        (folder / "names").write_text(f"subjectAltName=DNS:{name}\n")
        _openssl("req", "-x509", *key, "-days", "2", "-subj", "/CN=authority", "-keyout", "ca.key", "-out", "ca.pem", cwd=folder)
        _openssl("req", *key, "-subj", f"/CN={name}", "-keyout", "host.key", "-out", "host.csr", cwd=folder)
        _openssl("x509", "-req", "-in", "host.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                 "-extfile", "names", "-out", "host.pem", cwd=folder)
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(folder / "host.pem", folder / "host.key")
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.proxy = "http://127.0.0.1:%d" % self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()

    def wait_for(self, count, seconds=WAIT_SECONDS):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.posts) >= count, seconds), f"{self.posts} {self.targets}"
            return list(self.posts)

    def _accept(self):
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection):
        try:
            with connection:
                target = self._head(connection)[0].split(" ")[1]
                with self._changed:
                    self.targets.append(target)
                connection.sendall(b"HTTP/1.1 200 Connected\r\n\r\n")
                with self._context.wrap_socket(connection, server_side=True) as tunnel:
                    lines = self._head(tunnel)
                    headers = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:]]
                    method, path = lines[0].split(" ")[:2]
                    post = Request(method, path, headers, b"")
                    post.target = target
                    while len(post.body) < int(post.header("Content-Length", "0")):
                        post.body += tunnel.recv(65536)
                    tunnel.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok")
                    with self._changed:
                        self.posts.append(post)
                        self._changed.notify_all()
        except OSError:
            pass

    @staticmethod
    def _head(connection):
        """The lines of a head, read byte by byte so that nothing behind it is taken."""
        head = b""
        while not head.endswith(b"\r\n\r\n"):
            byte = connection.recv(1)
            if not byte:
                raise ConnectionError("closed within a head")
            head += byte
        return head.decode("latin-1").strip().split("\r\n")
