"""Decisions: what the scheduler says about its own attempts, read from ``GET /decisions`` over verified TLS."""

from __future__ import annotations

import http.client
import ssl
from pathlib import Path

import msgspec

from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.settings import HOST

_TIMEOUT_SECONDS = 10.0


class Decision(msgspec.Struct, frozen=True):
    """One pod's last attempt; see ``scheduler.scheduling.decisions.Record``."""

    namespace: str
    name: str
    result: str
    node: str = ""
    message: str = ""
    scores: dict[str, int] = {}
    total: int = 0
    feasible: int = 0
    evaluated: int = 0

    @property
    def pod(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


class _Answer(msgspec.Struct, frozen=True):
    items: list[Decision]


def fetch(port: int, certificate: Path) -> dict[str, Decision]:
    """The decisions by pod.

    Args:
        port: the scheduler's, on this machine.
        certificate: the self-signed one that it made for itself.

    Raises:
        DemoError: no answer, or not the expected one.
    """
    try:
        context = ssl.create_default_context(cafile=str(certificate))
        connection = http.client.HTTPSConnection(HOST, port, timeout=_TIMEOUT_SECONDS, context=context)
        connection.request("GET", "/decisions")
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
    except (OSError, http.client.HTTPException) as error:
        raise DemoError(
            f"the scheduler does not answer at https://{HOST}:{port}/decisions: {error}"
        ) from None
    if answer.status != http.HTTPStatus.OK:
        raise DemoError(f"the scheduler answers {answer.status} to GET https://{HOST}:{port}/decisions")
    try:
        return {each.pod: each for each in msgspec.json.decode(body, type=_Answer).items}
    except msgspec.DecodeError as error:
        raise DemoError(f"GET https://{HOST}:{port}/decisions: {error}") from None
