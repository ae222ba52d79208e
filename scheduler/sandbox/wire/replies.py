"""Replies: JSON, Status objects, YAML."""

from __future__ import annotations

from typing import Any

import msgspec
import yaml

from scheduler.sandbox.errors import StatusError
from scheduler.sandbox.wire.http import Response

Object = dict[str, Any]
_encode = msgspec.json.Encoder().encode


def json_reply(document: Object, status: int = 200, warnings: list[str] | None = None) -> Response:
    """A JSON document, with warnings that kubectl prints."""
    return with_warnings(Response(status, _encode(document)), warnings or [])


def with_warnings(reply: Response, warnings: list[str]) -> Response:
    """The reply with a Warning header."""
    if warnings:
        texts = [warning.replace("\\", "\\\\").replace('"', '\\"') for warning in warnings[:20]]
        reply.headers["Warning"] = ", ".join(f'299 - "{_printable(text)}"' for text in texts)
    return reply


def _printable(text: str) -> str:
    return "".join(letter if letter.isprintable() and letter.isascii() else "?" for letter in text)[:500]


def status_reply(error: StatusError) -> Response:
    """The Status of an error."""
    reply = Response(error.code, _encode(error.body()))
    if error.retry_after is not None:
        reply.headers["Retry-After"] = str(error.retry_after)
    return reply


def success(details: Object | None = None, code: int = 200) -> Response:
    """A Status of success."""
    status: Object = {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Success"}
    if details:
        status["details"] = details
    if code != 200:
        status["code"] = code
    return Response(code, _encode(status))


def as_yaml(reply: Response) -> Response:
    """The same reply in YAML."""
    text = yaml.dump(msgspec.json.decode(reply.body), Dumper=yaml.CSafeDumper, sort_keys=False)
    return Response(reply.status, text.encode(), "application/yaml", reply.headers)
