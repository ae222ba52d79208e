"""A watch: an endless answer whose lines are events."""

from collections.abc import Iterator
from typing import Self

from scheduler.client.errors import TransportError
from scheduler.client.transport import Body

CHUNK = 1 << 16
"""Bytes that are read at once at most."""
LINE_LIMIT = 64 << 20
"""Bytes of one event at most; etcd holds 1.5 MB per object by default."""


class WatchStream:
    """The lines of a watch, read by one thread in a ``with`` block, closed by any.

    Iterating ends when the server ends the stream or after :meth:`close`; it raises TransportError when the
    connection is lost or silent for too long.
    """

    def __init__(self, body: Body) -> None:
        self._body = body
        self._closed = False

    def close(self) -> None:
        """End the iteration at once, also while it waits."""
        self._closed = True
        self._body.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._body.discard()

    def __iter__(self) -> Iterator[bytes]:
        pending: list[bytes] = []
        size = 0
        while not self._closed:
            chunk = self._next_chunk()
            if not chunk:
                return
            head, newline, rest = chunk.partition(b"\n")
            pending.append(head)
            size += len(head)
            if size > LINE_LIMIT:
                raise TransportError(f"an event of the watch exceeds {LINE_LIMIT} bytes")
            if not newline:
                continue
            *complete, last = rest.split(b"\n")
            yield b"".join(pending)
            yield from complete
            pending, size = [last], len(last)

    def _next_chunk(self) -> bytes:
        try:
            return self._body.read_some(CHUNK)
        except TransportError:
            if self._closed:
                return b""
            raise
