"""Methods that HTTP knows. Anything else is refused below the application, which counts requests by method: a client that makes up methods
would make the process remember each of them for as long as it lives.
"""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

KNOWN_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS")


class KnownMethods:
    """WSGI middleware: 405 for methods that no route takes, whoever asks."""

    def __init__(self, app: "WSGIApplication") -> None:
        self._app = app

    def __call__(self, environ: "WSGIEnvironment", start_response: "StartResponse") -> Iterable[bytes]:
        """Serve the request, or refuse it."""
        if environ["REQUEST_METHOD"] in KNOWN_METHODS:
            return self._app(environ, start_response)
        body = b"405 method not allowed\n"
        headers = [
            ("Content-Type", "text/plain; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Allow", ", ".join(KNOWN_METHODS)),
            ("Cache-Control", "no-cache, private"),
            ("X-Content-Type-Options", "nosniff"),
        ]
        start_response("405 Method Not Allowed", headers)
        return [body]
