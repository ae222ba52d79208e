"""Where to listen: ``HOST:PORT`` of this machine, since what is served has no TLS and asks nobody who they are."""

from __future__ import annotations

import ipaddress
from typing import NamedTuple

_MAX_PORT = 65535
_REFUSAL = (
    "plain HTTP is for this machine only, as 127.0.0.1, [::1] or localhost; "
    "others are served over TLS by the scheduler itself (wharfinger --bind-address, --secure-port)"
)


class AddressError(ValueError):
    """No address that may be listened on; the text is one line."""


class Address(NamedTuple):
    """An IP address of the loopback, and a port; 0 takes a free one."""

    host: str
    port: int


def parse(text: str) -> Address:
    """Read ``127.0.0.1:8080``, ``[::1]:0``, ``localhost:0``.

    Raises:
        AddressError: it is none, or not of this machine alone.
    """
    host, colon, port = text.rpartition(":")
    if not colon or not port.isascii() or not port.isdigit() or int(port) > _MAX_PORT:
        raise AddressError(f"--listen {text!r}: expected HOST:PORT, 127.0.0.1:0 for example")
    bare = host.removeprefix("[").removesuffix("]") if host.startswith("[") else host
    if bare == "localhost":
        return Address("127.0.0.1", int(port))
    try:
        loopback = ipaddress.ip_address(bare).is_loopback
    except ValueError:
        loopback = False
    if not loopback:
        raise AddressError(f"--listen {text!r}: {_REFUSAL}")
    return Address(bare, int(port))
