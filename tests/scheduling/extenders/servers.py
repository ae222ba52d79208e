"""Extenders for tests: real sockets, answers from a script or a function, and a memory of what they were asked."""

from __future__ import annotations

import json
import socket
import ssl
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, NamedTuple

Document = dict[str, Any]


class Answer(NamedTuple):
    """What to answer; ``hold`` is waited for first."""

    body: bytes
    status: int = 200
    hold: threading.Event | None = None


class Asked(NamedTuple):
    """A request that came."""

    path: str
    document: Document
    headers: dict[str, str]


def answer(document: object, status: int = 200) -> Answer:
    return Answer(json.dumps(document).encode(), status)


class ExtenderServer:
    """Answers ``answers[path]`` one after the other, the last one again and again; or whatever ``answers[path]`` returns for the request."""

    def __init__(self, tls: ssl.SSLContext | None = None) -> None:
        self.answers: dict[str, list[Answer] | Callable[[Document], Answer]] = defaultdict(list)
        self.asked: list[Asked] = []
        self.arrived = threading.Condition()
        self.connections = 0
        self.ended = threading.Semaphore(0)
        """Released when a connection ends."""
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        if tls is not None:
            self._server.socket = tls.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )
        scheme = "https" if tls else "http"
        self.port = self._server.server_address[1]
        self.url = f"{scheme}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def paths(self) -> list[str]:
        """The paths that were asked for, in order."""
        return [one.path for one in self.asked]

    def wait_for(self, number: int) -> None:
        """Wait until so many requests have come."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.asked) >= number, 30)

    def answer_to(self, asked: Asked) -> Answer:
        with self.arrived:
            self.asked.append(asked)
            self.arrived.notify_all()
            known = self.answers[asked.path]
            if callable(known):
                return known(asked.document)
            if not known:
                return Answer(b"nobody expected this request", 418)
            return known.pop(0) if len(known) > 1 else known[0]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(30)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: ExtenderServer

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up, or shakes hands in vain, is what some tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def setup(self) -> None:
        super().setup()
        self.server.owner.connections += 1  # type: ignore[attr-defined]

    def finish(self) -> None:
        super().finish()
        self.server.owner.ended.release()  # type: ignore[attr-defined]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        owner: ExtenderServer = self.server.owner  # type: ignore[attr-defined]
        given = owner.answer_to(Asked(self.path, json.loads(body), dict(self.headers.items())))
        if given.hold is not None:
            given.hold.wait(30)
        with suppress(OSError):
            self.send_response(given.status)
            body = b"" if given.status == 204 else given.body
            if given.status != 204:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  # the base class's
        """Quiet."""


class RudeServer:
    """Reads one request, as far as it comes at once, and does to the socket what ``behave`` does; then closes it."""

    def __init__(self, behave: Callable[[socket.socket], None]) -> None:
        self._behave = behave
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}"
        self.over = threading.Event()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        while True:
            try:
                peer, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(peer,), daemon=True).start()

    def _serve(self, peer: socket.socket) -> None:
        with peer, suppress(OSError):
            peer.recv(1 << 16)
            self._behave(peer)
            # What has not been read would make the client's system forget what was sent.
            peer.shutdown(socket.SHUT_WR)
            peer.settimeout(1)
            while peer.recv(1 << 16):
                pass

    def close(self) -> None:
        self.over.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()


class Nobody:
    """A port that is taken, and on which nobody listens."""

    def __init__(self) -> None:
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.address = f"127.0.0.1:{self._socket.getsockname()[1]}"
        self.url = f"http://{self.address}"

    def close(self) -> None:
        self._socket.close()


def by_name(items: Iterable[Document]) -> list[Document]:
    return sorted(items, key=lambda item: str(item["metadata"]["name"]))
