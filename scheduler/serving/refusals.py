"""Refusals as Kubernetes writes them: a ``Status`` in JSON, or one line of text when something failed on the way.

To people (curl, wget, browsers, ``?pretty``) JSON comes indented, as from any API server (apiserver's ``negotiation.isPrettyPrint``).
"""

import json
from http import HTTPStatus

from flask import Request, Response

from scheduler.serving.access import Refusal

_PEOPLE = ("curl", "Wget", "Mozilla/5.0")
_TRUE = frozenset({"1", "t", "T", "TRUE", "true", "True"})
_NO_SNIFF = ("X-Content-Type-Options", "nosniff")
_TEXT = "text/plain; charset=utf-8"
_JSON = "application/json"
_GO_ESCAPES = str.maketrans({c: f"\\u{ord(c):04x}" for c in "<>&\u2028\u2029"})
"""Go writes these so in JSON; they can only stand inside of strings."""


def respond(refusal: Refusal, request: Request) -> Response:
    """The answer to a refused request."""
    if refusal.code == HTTPStatus.INTERNAL_SERVER_ERROR:
        body = f"{refusal.message}\n"
        return Response(body, status=refusal.code, content_type=_TEXT, headers=[_NO_SNIFF])
    headers = [_NO_SNIFF] if refusal.code == HTTPStatus.FORBIDDEN else []
    body = status_json(refusal, pretty=_for_people(request))
    return Response(body, status=refusal.code, content_type=_JSON, headers=headers)


def status_json(refusal: Refusal, *, pretty: bool = False) -> str:
    """The ``Status``."""
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": refusal.message,
        "reason": refusal.reason,
        **({"details": {}} if refusal.code == HTTPStatus.FORBIDDEN else {}),
        "code": refusal.code,
    }
    if pretty:
        return json.dumps(status, ensure_ascii=False, indent=2).translate(_GO_ESCAPES)
    text = json.dumps(status, ensure_ascii=False, separators=(",", ":"))
    return text.translate(_GO_ESCAPES) + "\n"


def _for_people(request: Request) -> bool:
    asked = request.args.get("pretty", "")
    return asked in _TRUE if asked else request.headers.get("User-Agent", "").startswith(_PEOPLE)
