"""From documents to typed objects: what scheduling reads of them, in the order in which they came.

A fault names the place and the field: ``pods.yaml: document 3 (line 40): spec.nodeName: Expected `str`, got `int` ``. Null means absent
everywhere. Kinds that scheduling does not read are passed over, and so are kinds of other groups with the same name.

Two things are filled in, for a scheduler cannot do without: the uid, which is ``KIND/NAMESPACE/NAME`` when there is none, and a pod's
``schedulerName``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import msgspec

from scheduler.apis.objects import DecodeError, Node, Pod, convert, verify
from scheduler.framework.catalog import COLLECTIONS, Catalog

Document = Mapping[str, Any]
T = TypeVar("T", bound=Any)

DEFAULT_SCHEDULER = "default-scheduler"
_AT = re.compile(r"(got `(?P<got>\w+)`)?(?P<at> - at (?P<key>`key` in )?`\$\.?(?P<path>[^`]*)`)$")
_STEP = re.compile(r"\[[^\]]*\]|[^.\[]+")
_JSON_TYPES = {bool: "bool", int: "int", float: "float", str: "str", list: "array", dict: "object"}
_READ: tuple[type[Any], ...] = (Node, Pod, *COLLECTIONS)
KINDS: Mapping[str, type[Any]] = {kind.__name__: kind for kind in _READ}
"""The kinds that scheduling reads."""
_GROUPS: Mapping[str, str] = {
    "StorageClass": "storage.k8s.io",
    "CSINode": "storage.k8s.io",
    "CSIDriver": "storage.k8s.io",
    "CSIStorageCapacity": "storage.k8s.io",
    "VolumeAttachment": "storage.k8s.io",
    "ReplicaSet": "apps",
    "StatefulSet": "apps",
    "Deployment": "apps",
    "DaemonSet": "apps",
    "Job": "batch",
    "CronJob": "batch",
    "PodDisruptionBudget": "policy",
    "PriorityClass": "scheduling.k8s.io",
    "RuntimeClass": "node.k8s.io",
}
"""The groups of kinds; the others are in the core group."""


class InputError(ValueError):
    """The input cannot be used; the text is one line that names the place."""


class Placed(NamedTuple):
    """A document and where it stands, as an error names it."""

    document: Any
    place: str


@dataclass(slots=True)
class Objects:
    """The objects by what scheduling makes of them.

    Attributes:
        nodes, pods: in the order in which they came; pods with and without a node.
        others: what a ``Catalog`` keeps.
    """

    nodes: list[Node] = field(default_factory=list)
    pods: list[Pod] = field(default_factory=list)
    others: list[Any] = field(default_factory=list)

    def add(self, obj: Any) -> None:
        """Add an object of a kind that scheduling reads."""
        if isinstance(obj, Node):
            self.nodes.append(obj)
        elif isinstance(obj, Pod):
            self.pods.append(obj)
        else:
            self.others.append(obj)

    def waiting(self) -> list[Pod]:
        """The pods that are to be scheduled: without a node, and not at their end."""
        return [pod for pod in self.pods if not pod.spec.node_name and not pod.terminal]

    def fill(self, catalog: Catalog) -> None:
        """Put the others into a catalog."""
        for obj in self.others:
            catalog.of(type(obj)).put(obj)


def read_objects(documents: Iterable[Placed]) -> Objects:
    """Type the documents.

    Raises:
        InputError: one is no object, or a field is of the wrong type.
    """
    found = Objects()
    for placed in documents:
        obj = read_object(placed)
        if obj is not None:
            found.add(obj)
    return found


def read_object(placed: Placed) -> Any | None:
    """Type one document; None when scheduling does not read its kind. Raises InputError."""
    kind = KINDS.get(kind_of(placed))
    return None if kind is None else identified(read_kind(kind, placed))


def kind_of(placed: Placed) -> str:
    """The kind of a document; empty for a kind of another group that happens to have such a name.

    Raises:
        InputError: it is no object, or has no kind.
    """
    document, place = placed
    if not isinstance(document, Mapping):
        raise InputError(f"{place}: expected an object, found {type(document).__name__}")
    kind = document.get("kind")
    if not isinstance(kind, str) or not kind:
        raise InputError(f"{place}: kind: Required value")
    version = document.get("apiVersion")
    if not isinstance(version, str) or not version:  # scenarios may leave it out
        return kind
    group = version.rpartition("/")[0]
    return kind if group == _GROUPS.get(kind, "") else ""


def read_kind(kind: type[T], placed: Placed) -> T:
    """Type a document as an object of the kind. Raises InputError."""
    try:
        obj = convert(kind, placed.document)
        verify(obj)
    except DecodeError as error:
        raise InputError(f"{placed.place}: {_with_field_first(str(error), placed.document)}") from error
    if not obj.metadata.name:
        raise InputError(f"{placed.place}: metadata.name: Required value")
    return obj


def identified(obj: T) -> T:
    """The object with a uid, and a pod with a ``schedulerName``."""
    meta = obj.metadata
    changed: dict[str, Any] = {}
    if not meta.uid:
        uid = f"{type(obj).__name__}/{meta.namespace}/{meta.name}"
        changed["metadata"] = msgspec.structs.replace(meta, uid=uid)
    if isinstance(obj, Pod) and not obj.spec.scheduler_name:
        changed["spec"] = msgspec.structs.replace(obj.spec, scheduler_name=DEFAULT_SCHEDULER)
    return msgspec.structs.replace(obj, **changed) if changed else obj


def _with_field_first(text: str, document: Document) -> str:
    """msgspec's ``Expected `str`, got `int` - at `$.spec.nodeName` `` with the field in front."""
    match = _AT.search(text)
    if match is None:
        return text
    path = _with_keys(match["path"], document, match["got"]) or "(whole object)"
    return f"{path}: {'a key: ' if match['key'] else ''}{text[: match.start('at')]}"


def _with_keys(path: str, document: Any, got: str | None) -> str:
    """The path of a field, each ``[...]`` in it replaced with the key of the value that is of the wrong type."""
    if "[...]" not in path:
        return path
    place = ""
    for step in _STEP.findall(path):
        if step == "[...]":
            key = next((key for key, value in document.items() if _JSON_TYPES.get(type(value)) == got), "...")
            place, document = f"{place}[{key}]", document.get(key)
        elif step.startswith("["):
            place, document = place + step, document[int(step[1:-1])]
        else:
            place, document = f"{place}.{step}".removeprefix("."), document[step]
    return place
