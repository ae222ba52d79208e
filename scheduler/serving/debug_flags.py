"""``/debug/flags``: flags that can change while the process runs; ``PUT /debug/flags/v`` sets the verbosity of the log.

Answers are apiserver's (``routes/flags.go``): PUT is the only method of a flag, everything else below ``/debug/flags`` is an index.
"""

from collections.abc import Callable, Mapping
from html import escape
from http import HTTPStatus

from flask import Blueprint, Response, request

Setter = Callable[[str], str]
"""Sets a flag from its text and answers what to tell the client; raises ValueError with the reason when the text is no value."""

_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH")


def debug_flags(setters: Mapping[str, Setter]) -> Blueprint:
    """The routes, with one setter by flag."""
    blueprint = Blueprint("debug-flags", __name__)

    def change(flag: str) -> Response:
        setter = setters.get(flag)
        if setter is None:
            return index()
        if request.method != "PUT":
            return _plain(HTTPStatus.NOT_ACCEPTABLE, "unsupported http method")
        try:
            return _plain(HTTPStatus.OK, setter(request.get_data().decode("utf-8", "replace")))
        except ValueError as error:
            return _plain(HTTPStatus.BAD_REQUEST, str(error))

    def index() -> Response:
        rows = "".join(f"<tr>{escape(flag)}<br>\n" for flag in setters)
        body = (
            "<html>\n<head>\n<title>/debug/flags/</title>\n</head>\n<body>\n/debug/flags/<br>\n<br>\nflags:<br>\n"
            f"<table>\n{rows}</table>\n<br>\nfull flags configurable<br>\n</body>\n</html>\n"
        )
        return Response(body, content_type="text/html; charset=utf-8")

    blueprint.add_url_rule("/debug/flags", "index", index, methods=_METHODS)
    blueprint.add_url_rule("/debug/flags/", "folder", index, methods=_METHODS)
    blueprint.add_url_rule("/debug/flags/<path:flag>", "flag", change, methods=_METHODS)
    return blueprint


def _plain(status: HTTPStatus, text: str) -> Response:
    nosniff = [("X-Content-Type-Options", "nosniff")]
    return Response(f"{text}\n", status=status, content_type="text/plain", headers=nosniff)
