"""``/flagz`` and ``/statusz``: with which flags the process runs, since when, as which version.

Text for people (upstream draws its delimiters by lot, to keep scripts away; here they stay what they are), versioned JSON or YAML for
programs that name a version (see ``negotiation``). Each page exists unless its feature gate is off.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from http import HTTPStatus
from typing import Any

import msgspec
import yaml
from flask import Blueprint, Response, current_app, request

from scheduler.serving.negotiation import JSON, OFFERED, PLAIN, negotiate

GROUP = "config.k8s.io"
VERSIONS = ("v1beta1", "v1alpha1")
_DEPRECATED = frozenset({"v1alpha1"})
_NOTE = "Warning: This endpoint is not meant to be machine parseable, has no formatting compatibility guarantees and is for debugging purposes only."
_UNLISTED = frozenset({"/debug", "/statusz"})


@dataclass(frozen=True, slots=True)
class Status:
    """What ``/statusz`` tells; ``runtime`` stands where kube-scheduler names its Go version."""

    started: datetime
    binary_version: str
    emulation_version: str
    runtime: str


def flagz(component: str, flags: Mapping[str, str]) -> Blueprint:
    """The page with the flags in force, by name."""

    def text() -> str:
        return "".join(f"{name}={value}\n" for name, value in sorted(flags.items()))

    return _page(component, "Flagz", text, lambda: {"flags": dict(sorted(flags.items()))})


def statusz(component: str, status: Status, now: Callable[[], datetime]) -> Blueprint:
    """The page with start, age, versions and paths of the process."""

    def fields() -> dict[str, Any]:
        return {
            "startTime": status.started.strftime("%Y-%m-%dT%H:%M:%SZ"),
            "uptimeSeconds": max(0, int((now() - status.started).total_seconds())),
            "goVersion": status.runtime,
            "binaryVersion": status.binary_version,
            "emulationVersion": status.emulation_version,
            "paths": listed_paths(rule.rule for rule in current_app.url_map.iter_rules()),
        }

    def text() -> str:
        told = fields()
        minutes, seconds = divmod(told["uptimeSeconds"], 60)
        hours, minutes = divmod(minutes, 60)
        return (
            f"\nStarted: {status.started:%a %b %e %H:%M:%S UTC %Y}\n"
            f"Up: {hours} hr {minutes:02d} min {seconds:02d} sec\n"
            f"Go version: {status.runtime}\n"
            f"Binary version: {status.binary_version}\n"
            f"Emulation version: {status.emulation_version}\n"
            f"Paths: {' '.join(told['paths'])}\n"
        )

    return _page(component, "Statusz", text, fields)


def listed_paths(rules: Iterable[str]) -> list[str]:
    """The first steps of all paths, those for debugging apart."""
    folders = {"/" + rule.split("/")[1] for rule in rules}
    return sorted(folders - _UNLISTED - {"/"})


def _page(
    component: str, kind: str, text: Callable[[], str], fields: Callable[[], dict[str, Any]]
) -> Blueprint:
    name = kind.lower()
    blueprint = Blueprint(name, __name__)

    def show() -> Response:
        chosen = negotiate(request.headers.get("Accept", ""), GROUP, VERSIONS, kind)
        if chosen is None:
            return _not_acceptable()
        media_type, version = chosen
        if media_type == PLAIN:
            body = f"\n{component} {name}\n{_NOTE}\n{text()}"
            return Response(body, content_type="text/plain; charset=utf-8")
        page = {"kind": kind, "apiVersion": f"{GROUP}/{version}", "metadata": {"name": component}, **fields()}
        return _structured(page, media_type, version, name)

    blueprint.add_url_rule(f"/{name}", "show", show, methods=("GET", "HEAD", "POST", "PUT", "DELETE"))
    return blueprint


def _structured(page: dict[str, Any], media_type: str, version: str, name: str) -> Response:
    as_json = media_type == JSON
    body = msgspec.json.encode(page) + b"\n" if as_json else yaml.safe_dump(page).encode()
    response = Response(body, content_type=f"{media_type};g={GROUP};v={version};as={page['kind']}")
    if version in _DEPRECATED:
        note = f"This version of the {name} endpoint is deprecated. Please use a newer version."
        response.headers["Warning"] = f'299 - "{note}"'
    return response


def _not_acceptable() -> Response:
    status = {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": f"only the following media types are accepted: {', '.join(OFFERED)}",
        "reason": "NotAcceptable",
        "code": HTTPStatus.NOT_ACCEPTABLE.value,
    }
    body = msgspec.json.encode(status) + b"\n"
    return Response(body, status=HTTPStatus.NOT_ACCEPTABLE, content_type=JSON)
