"""A live cluster, read once: every object of the kinds asked for, in pages, typed.

The cluster is only read. Kinds that its API server does not know have no objects; one that may not be read is an error, unless it is
optional, and then a note.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import metadata
from typing import Any

import msgspec

from scheduler.apis.objects import Base, DecodeError, Node, Pod, PriorityClass, RuntimeClass, decode
from scheduler.app.watches import RESOURCES
from scheduler.client.access import load_access, user_agent
from scheduler.client.errors import ForbiddenError, MalformedAnswerError, NotFoundError
from scheduler.client.resources import NODES, PODS, Resource
from scheduler.client.rest import Rest

_PAGE = 500
_UNLIMITED = -1.0
_OF_KIND: dict[type[Any], Resource] = {
    Node: NODES,
    Pod: PODS,
    **RESOURCES,
    PriorityClass: Resource("scheduling.k8s.io", "v1", "priorityclasses", "PriorityClass", namespaced=False),
    RuntimeClass: Resource("node.k8s.io", "v1", "runtimeclasses", "RuntimeClass", namespaced=False),
}


class _ListMeta(Base, frozen=True):
    continue_: str = msgspec.field(default="", name="continue")


class _Page(Base, frozen=True):
    metadata: _ListMeta = msgspec.field(default_factory=_ListMeta)
    items: tuple[msgspec.Raw, ...] | None = None


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What a cluster holds, and what could not be read of it."""

    objects: Sequence[Any]
    notes: Sequence[str]


@contextmanager
def connected(kubeconfig: str) -> Iterator[Rest]:
    """A client for the cluster of a kubeconfig. Raises scheduler.client.errors.AccessError."""
    access = load_access(kubeconfig)
    rest = Rest(access, user_agent=user_agent(metadata.version("wharfinger"), "explain"), qps=_UNLIMITED)
    try:
        yield rest
    finally:
        rest.close()
        access.close()


def read(rest: Rest, kinds: Sequence[type[Any]], optional: Sequence[type[Any]] = ()) -> Snapshot:
    """Every object of these kinds, kind by kind.

    Args:
        optional: kinds that one can do without.

    Raises:
        scheduler.client.errors.ClientError: the server cannot be reached, or refuses.
    """
    objects: list[Any] = []
    notes: list[str] = []
    for kind in (*kinds, *optional):
        try:
            objects.extend(_list(rest, kind))
        except NotFoundError:
            continue  # a server without this API has no such objects
        except ForbiddenError as error:
            if kind not in optional:
                raise
            notes.append(f"{kind.__name__} objects cannot be read: {error}")
    return Snapshot(objects, notes)


def _list(rest: Rest, kind: type[Any]) -> Iterator[Any]:
    path = _OF_KIND[kind].collection()
    token = ""
    while True:
        query = {"limit": str(_PAGE), **({"continue": token} if token else {})}
        page = _decoded(lambda body: decode(_Page, body), rest.request("GET", path, query=query).body, path)
        for item in page.items or ():
            yield _decoded(lambda raw: decode(kind, raw), item, path)
        token = page.metadata.continue_
        if not token:
            return


def _decoded(read_it: Callable[[Any], Any], raw: Any, path: str) -> Any:
    try:
        return read_it(raw)
    except DecodeError as error:
        raise MalformedAnswerError(f"GET {path}: {error}") from error
