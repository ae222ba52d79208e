"""A TLS connection that looks like a socket to whoever reads and writes it: bytes, time limits, ``OSError``.

::

    handshake ──► bytes in both directions ── shutdown(SHUT_WR): "I am done" ──► what the client still sends is read as it is on the wire
"""

import contextlib
import errno
import select
import socket
from collections.abc import Callable
from functools import cached_property
from typing import Any, TypeVar

from cryptography import x509
from OpenSSL import SSL
from OpenSSL._util import lib

_PIECE = 1 << 20
_RECORD = 1 << 14
"""TLS's largest record; a read gives no more than one, whatever is asked for."""
_MILLISECONDS = 1000
_UNEXPECTED_EOF = -1

T = TypeVar("T")


class _EndOfDataError(ConnectionResetError):
    """The client has ended the connection, properly or not."""

    def __init__(self) -> None:
        super().__init__(errno.ECONNRESET, "the client has closed the connection")


class TLSSocket:
    """The server's side. Used by one thread at a time.

    ``request_headers``: names and values of the request that is being answered, as they came; the server sets it.
    """

    def __init__(self, sock: socket.socket, context: SSL.Context) -> None:
        self._sock = sock
        self._timeout = sock.gettimeout()
        self._sock.setblocking(False)
        self._tls = SSL.Connection(context, sock)
        self._tls.set_accept_state()
        self._plain = False
        self.request_headers: tuple[tuple[str, str], ...] = ()

    @cached_property
    def peer_certificates(self) -> tuple[x509.Certificate, ...]:
        """What the client shows of itself, unverified: its own certificate, then those that came with it; nothing when it showed none.

        Raises ValueError when one of them is malformed.
        """
        own = self._tls.get_peer_certificate(as_cryptography=True)
        if own is None:
            return ()
        return (own, *(self._tls.get_peer_cert_chain(as_cryptography=True) or ()))

    def do_handshake(self) -> None:
        """Agree with the client. Raises OSError."""
        self._persist(self._tls.do_handshake)

    def recv(self, size: int) -> bytes:
        """At most ``size`` bytes; none at the end. Raises OSError."""
        if self._plain:
            return self._sock.recv(size)
        try:
            return self._persist(lambda: self._tls.recv(min(size, _RECORD)))
        except _EndOfDataError:
            return b""

    def send(self, data: bytes | memoryview) -> int:
        """Some of the data; how many bytes. Raises OSError."""
        piece = memoryview(data)[:_PIECE]
        return self._persist(lambda: self._tls.send(piece))

    def sendall(self, data: bytes | memoryview) -> None:
        """All of the data. Raises OSError."""
        rest = memoryview(data)
        while rest:
            rest = rest[self.send(rest) :]

    def shutdown(self, how: int) -> None:
        """Tell the client that nothing more comes; from now on what it sends is read as it is on the wire. Raises OSError."""
        self._say_goodbye()
        self._plain = True
        self._sock.settimeout(self._timeout)
        self._sock.shutdown(how)

    def close(self) -> None:
        """Close it, with the end of TLS announced if the client takes it right now."""
        self._say_goodbye()
        self._sock.close()

    def fileno(self) -> int:
        """For selectors."""
        return self._sock.fileno()

    def getsockname(self) -> Any:
        """This end's address."""
        return self._sock.getsockname()

    def getpeername(self) -> Any:
        """The client's address."""
        return self._sock.getpeername()

    def gettimeout(self) -> float | None:
        """Seconds that a call may wait; nothing: for ever."""
        return self._timeout

    def settimeout(self, seconds: float | None) -> None:
        """How long a call may wait for the client."""
        self._timeout = seconds
        if self._plain:
            self._sock.settimeout(seconds)

    def setblocking(self, blocking: bool) -> None:
        """Wait for ever, or not at all."""
        self.settimeout(None if blocking else 0.0)

    def _say_goodbye(self) -> None:
        if not self._plain:
            with contextlib.suppress(SSL.Error, OSError):
                self._tls.shutdown()

    def _persist(self, call: Callable[[], T]) -> T:
        """Do it, waiting for the client as long as the time limit allows. Raises OSError: `_EndOfDataError` at the end of the data."""
        while True:
            lib.ERR_clear_error()  # what another connection left behind in this thread would be taken for this one's
            try:
                return call()
            except SSL.WantReadError:
                self._wait(select.POLLIN)
            except SSL.WantWriteError:
                self._wait(select.POLLOUT)
            except SSL.ZeroReturnError:
                raise _EndOfDataError from None
            except SSL.SysCallError as error:
                if error.args[0] == _UNEXPECTED_EOF:
                    raise _EndOfDataError from None
                raise OSError(*error.args) from None
            except SSL.Error as error:
                raise ConnectionResetError(errno.ECONNRESET, f"TLS: {_reason(error)}") from None

    def _wait(self, event: int) -> None:
        if self._timeout == 0.0:
            raise BlockingIOError(errno.EAGAIN, "the client has not sent or taken enough")
        poll = select.poll()
        poll.register(self._sock, event)
        if not poll.poll(None if self._timeout is None else self._timeout * _MILLISECONDS):
            raise TimeoutError("timed out")


def _reason(error: SSL.Error) -> str:
    """OpenSSL's word, such as ``wrong version number``."""
    stack = error.args[0] if error.args else ()
    return str(stack[-1][-1]) if stack else "failed"
