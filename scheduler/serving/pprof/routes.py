"""The endpoints, as ``net/http/pprof`` mounts them in a kube-scheduler: an index, CPU profiles, stacks, and a trace.

``?seconds=`` says how long to look. Only one recording runs at a time. What Go's runtime measures and Python's does not (heap, mutexes) is
no profile here, and is answered like any other unknown name; so is ``cmdline``, which kube-scheduler does not mount.
"""

import threading
import time
from collections.abc import Callable
from html import escape
from http import HTTPStatus

from flask import Blueprint, Response, redirect, request
from werkzeug.wrappers import Response as AnyResponse

from scheduler.serving.pprof.profile import cpu_profile, thread_profile
from scheduler.serving.pprof.sampler import Recording, Stack, record, stacks
from scheduler.serving.pprof.timeline import trace_events

_DEFAULT_SECONDS = 30.0
_MAX_SECONDS = 600.0
_METHODS = ("GET", "HEAD", "POST", "PUT", "DELETE")
_PROFILES = {
    "goroutine": "Stacks of all current threads. Use debug=2 as a query parameter to read them as text.",
    "profile": "CPU profile. You can specify the duration in the seconds GET parameter. After you get the profile file, "
    "use the go tool pprof command to investigate the profile.",
    "symbol": "Nothing: profiles carry the names of their functions.",
    "trace": "What the threads did, in time, as trace events (JSON). You can specify the duration in the seconds GET "
    "parameter; Perfetto and speedscope open the file.",
}


def profiling(stop: threading.Event | None = None) -> Blueprint:
    """The routes; recordings end early once ``stop`` is set."""
    blueprint = Blueprint("pprof", __name__)
    recorder = _Recorder(stop or threading.Event())
    routes: dict[str, Callable[[], AnyResponse]] = {
        "/debug/pprof": lambda: redirect("/debug/pprof/", HTTPStatus.FOUND),
        "/debug/pprof/": _index,
        "/debug/pprof/profile": lambda: recorder.answer(cpu_profile, "profile", default=_DEFAULT_SECONDS),
        "/debug/pprof/trace": lambda: recorder.answer(trace_events, "trace.json", default=1.0),
        "/debug/pprof/goroutine": _threads,
        "/debug/pprof/symbol": lambda: _plain("num_symbols: 1\n"),
    }
    for path, view in routes.items():
        blueprint.add_url_rule(path, path.replace("/", "-"), view, methods=_METHODS)
    blueprint.add_url_rule("/debug/pprof/<path:name>", "unknown", _unknown, methods=_METHODS)
    return blueprint


class _Recorder:
    """Records for one client at a time."""

    def __init__(self, stop: threading.Event) -> None:
        self._stop = stop
        self._busy = threading.Lock()

    def answer(self, encode: Callable[[Recording], bytes], filename: str, *, default: float) -> Response:
        """Record for as long as the client asks, and answer with the file."""
        seconds = _seconds(default)
        if seconds > _MAX_SECONDS:
            return _refusal(HTTPStatus.BAD_REQUEST, f"at most {_MAX_SECONDS:.0f} seconds can be profiled")
        if not self._busy.acquire(blocking=False):
            return _refusal(
                HTTPStatus.INTERNAL_SERVER_ERROR,
                "Could not enable CPU profiling: cpu profiling already in use",
            )
        try:
            recording = record(seconds, self._stop)
        except OSError as error:
            return _refusal(
                HTTPStatus.INTERNAL_SERVER_ERROR, f"Could not enable CPU profiling: {error.strerror}"
            )
        finally:
            self._busy.release()
        return _download(encode(recording), filename)


def _threads() -> Response:
    found = stacks()
    if request.args.get("debug", "0") == "0":
        return _download(thread_profile(found, time.time_ns()), "goroutine")
    text = "".join(_told(stack, count) for stack, count in found.most_common())
    return _plain(f"goroutine profile: total {found.total()}\n{text}")


def _told(stack: Stack, count: int) -> str:
    lines = "".join(f"#\t{line.function}\t{line.file}:{line.line}\n" for line in stack)
    return f"{count} @\n{lines}\n"


def _index() -> Response:
    rows = "".join(
        f"<li><a href='{name}'>{name}</a>: {escape(text)}</li>\n" for name, text in sorted(_PROFILES.items())
    )
    body = (
        "<html>\n<head>\n<title>/debug/pprof/</title>\n</head>\n<body>\n/debug/pprof/\n<br>\n"
        f"<p>Types of profiles available:</p>\n<ul>\n{rows}</ul>\n</body>\n</html>\n"
    )
    return _nosniff(Response(body, content_type="text/html; charset=utf-8"))


def _unknown(name: str) -> Response:  # noqa: ARG001  # a view of a path with a name
    return _refusal(HTTPStatus.NOT_FOUND, "Unknown profile")


def _seconds(default: float) -> float:
    try:
        seconds = float(request.args.get("seconds", ""))
    except ValueError:
        return default
    return seconds if seconds > 0 else default


def _download(body: bytes, filename: str) -> Response:
    response = _nosniff(Response(body, content_type="application/octet-stream"))
    response.headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return response


def _refusal(status: HTTPStatus, text: str) -> Response:
    response = _plain(f"{text}\n", status)
    response.headers["X-Go-Pprof"] = "1"
    return response


def _plain(text: str, status: HTTPStatus = HTTPStatus.OK) -> Response:
    return _nosniff(Response(text, status=status, content_type="text/plain; charset=utf-8"))


def _nosniff(response: Response) -> Response:
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
