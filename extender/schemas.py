"""Request envelopes: what kube-scheduler sends, checked field by field, the big parts decoded in one pass each.

marshmallow checks the envelope and names every fault with its place; msgspec decodes what is in it. A body is first cut into
its top-level fields as raw bytes; each field then decodes its own. The nodes of a full-form request stay bytes: only their
names and versions are read here, the few that the cluster state does not have in that version are decoded later
(``SentNodes.decoded``), and the answer repeats the bytes. A body of 5,000 nodes and 40 MB takes four scans of 17 ms.

As in Go: keys match in any case, unknown keys are ignored, the last of two equal keys counts, ``null`` is the zero value.
Upstream: ``k8s.io/kube-scheduler/extender/v1``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

import msgspec
from marshmallow import EXCLUDE, Schema, ValidationError, fields, post_load, validate, validates_schema

from extender.bodies import Body
from extender.quantities import unreadable
from scheduler.apis.objects import Base, DecodeError, Node, ObjectMeta, Pod, decode
from scheduler.apis.quantity import QuantityError
from scheduler.framework.pods import PodInfo

T = TypeVar("T")

_NULL = b"null"
_REQUIRED: Mapping[str, Any] = {"required": True, "error_messages": {"required": "is missing"}}
_NOT_EMPTY = validate.Length(1, error="is empty")


class MalformedError(ValueError):
    """The body is not what the verb takes; the text names every fault with its place, in one line."""


class _Metadata(Base, frozen=True):
    name: str = ""
    resource_version: str = ""


class _Header(Base, frozen=True):
    """What is read of every node that is sent."""

    metadata: _Metadata = msgspec.field(default_factory=_Metadata)


@dataclass(frozen=True, slots=True)
class SentNodes:
    """The nodes of a full-form request, still in bytes; each name once, the first of its kind.

    Attributes:
        raws: by name, in the order sent.
        versions: ``metadata.resourceVersion`` by name.
        metadata: of the list, repeated in the answer.
    """

    raws: Mapping[str, msgspec.Raw]
    versions: Mapping[str, str]
    metadata: msgspec.Raw

    def decoded(self, names: Iterable[str]) -> list[Node]:
        """Some of the nodes as objects.

        Raises:
            MalformedError: one is no node.
        """
        return [self._decode(name) for name in names]

    def _decode(self, name: str) -> Node:
        try:
            return decode(Node, self.raws[name])
        except DecodeError as error:
            raise MalformedError(f"Nodes.items (node {name!r}): {error}") from error


@dataclass(frozen=True, slots=True)
class Call:
    """A filter or prioritize request: the pod, and the candidates by name or in full.

    Attributes:
        names: the candidates in the order sent, each once.
        sent: the nodes themselves, when the caller's extender is not ``nodeCacheCapable``.
    """

    pod: PodInfo
    names: Sequence[str]
    sent: SentNodes | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """The victims that the caller would evict from one node.

    Attributes:
        uids: the most important first, each once; a caller of Kubernetes 1.38 may propose a node without any.
        violations: how many of them violate a disruption budget, as the caller counts.
    """

    uids: Sequence[str] = ()
    violations: int = 0


@dataclass(frozen=True, slots=True)
class PreemptionCall:
    """A preempt request: the pod, and what the caller proposes by node name."""

    pod: PodInfo
    proposals: Mapping[str, Proposal]


@dataclass(frozen=True, slots=True)
class Binding:
    """A bind request."""

    namespace: str
    name: str
    uid: str
    node: str

    @property
    def full_name(self) -> str:
        """``namespace/name``."""
        return f"{self.namespace}/{self.name}"


def _pod(raw: msgspec.Raw) -> PodInfo:
    pod = _decoded(Pod, raw)
    try:
        return PodInfo(pod)
    except QuantityError as error:
        raise ValidationError(unreadable(pod) or str(error)) from error


def _names(raw: msgspec.Raw) -> Sequence[str]:
    return tuple(dict.fromkeys(_decoded(tuple[str, ...], raw)))


def _nodes(raw: msgspec.Raw) -> SentNodes:
    parts = _members(_decoded(dict[str, msgspec.Raw], raw), ("metadata", "items"))
    items = _decoded(tuple[msgspec.Raw, ...], parts.get("items", b"[]"))
    sent: dict[str, msgspec.Raw] = {}
    versions: dict[str, str] = {}
    for place, item in enumerate(items):
        metadata = _header(item, place).metadata
        if metadata.name not in sent:
            sent[metadata.name] = item
            versions[metadata.name] = metadata.resource_version
    return SentNodes(sent, versions, parts.get("metadata", msgspec.Raw(b"{}")))


class _Victim(Base, frozen=True):
    """What is read of a victim that is sent in full: who it is. Its node's state is known here."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)


def _full_victim(raw: msgspec.Raw) -> str:
    return _decoded(_Victim, raw).metadata.uid


def _meta_victim(raw: msgspec.Raw) -> str:
    uid = _members(_decoded(dict[str, msgspec.Raw], raw), ("UID",)).get("UID")
    return "" if uid is None else _text(uid)


def _proposals(raw: msgspec.Raw, uid_of: Callable[[msgspec.Raw], str]) -> dict[str, Proposal]:
    """By node name; null in the place of victims is none of them, as in Go."""
    found: dict[str, Proposal] = {}
    for node, victims in _decoded(dict[str, msgspec.Raw], raw).items():
        try:
            found[node] = _proposal(victims, uid_of)
        except ValidationError as error:
            raise ValidationError({node: error.messages}) from error
    return found


def _proposal(raw: msgspec.Raw, uid_of: Callable[[msgspec.Raw], str]) -> Proposal:
    if _is_null(raw):
        return Proposal()
    parts = _members(_decoded(dict[str, msgspec.Raw], raw), ("Pods", "NumPDBViolations"))
    pods = _decoded(tuple[msgspec.Raw, ...], parts.get("Pods", b"[]"))
    uids = dict.fromkeys("" if _is_null(pod) else uid_of(pod) for pod in pods)
    if "" in uids:
        raise ValidationError({"Pods": ["a victim has no uid"]})
    return Proposal(tuple(uids), _decoded(int, parts.get("NumPDBViolations", b"0")))


def _text(raw: msgspec.Raw) -> str:
    return _decoded(str, raw)


def _members(envelope: Mapping[str, msgspec.Raw], keys: Iterable[str]) -> dict[str, msgspec.Raw]:
    """The members asked for, under the names asked for; nulls left out."""
    spelled = {key.lower(): key for key in keys}
    found = ((spelled.get(key.lower()), raw) for key, raw in envelope.items())
    return {key: raw for key, raw in found if key is not None and not _is_null(raw)}


def _is_null(raw: msgspec.Raw) -> bool:
    return bytes(memoryview(raw)[:4]) == _NULL


def _decoded(kind: type[T], raw: msgspec.Raw | bytes) -> T:
    try:
        return decode(kind, raw)
    except DecodeError as error:
        raise ValidationError(str(error)) from error


def _header(raw: msgspec.Raw, place: int) -> _Header:
    try:
        header = decode(_Header, raw)
    except DecodeError as error:
        raise ValidationError({f"items[{place}]": [str(error)]}) from error
    if not header.metadata.name:
        raise ValidationError({f"items[{place}].metadata.name": ["is missing"]})
    return header


class _Raw(fields.Field[T]):
    """A field that arrives as raw bytes and is decoded by one function; that raises ValidationError."""

    def __init__(self, decoded: Callable[[msgspec.Raw], T], **settings: Any) -> None:
        super().__init__(**settings)
        self._decoded = decoded

    def _deserialize(self, value: Any, attr: Any, data: Any, **_: Any) -> T:  # noqa: ARG002  # marshmallow's
        return self._decoded(value)


class _Envelope(Schema):
    class Meta:
        unknown = EXCLUDE


class CallSchema(_Envelope):
    """``ExtenderArgs``. When both forms are there, the names count."""

    pod = _Raw(_pod, data_key="Pod", **_REQUIRED)
    nodes = _Raw(_nodes, data_key="Nodes", load_default=None)
    names = _Raw(_names, data_key="NodeNames", load_default=None)

    @validates_schema(skip_on_field_errors=False)
    def _one_form(self, data: Mapping[str, Any], **_: Any) -> None:
        # A form that is there and faulty is absent from the data, and has been reported.
        if data.get("nodes", self) is None and data.get("names", self) is None:
            raise ValidationError({"Nodes": ["neither Nodes nor NodeNames is given"]})

    @post_load
    def _make(self, data: Mapping[str, Any], **_: Any) -> Call:
        if data["names"] is not None:
            return Call(data["pod"], data["names"])
        sent: SentNodes = data["nodes"]
        return Call(data["pod"], tuple(sent.raws), sent)


class PreemptionSchema(_Envelope):
    """``ExtenderPreemptionArgs``. When both forms are there, the uids count; neither stands for no candidate."""

    pod = _Raw(_pod, data_key="Pod", **_REQUIRED)
    full = _Raw(partial(_proposals, uid_of=_full_victim), data_key="NodeNameToVictims", load_default=None)
    meta = _Raw(partial(_proposals, uid_of=_meta_victim), data_key="NodeNameToMetaVictims", load_default=None)

    @post_load
    def _make(self, data: Mapping[str, Any], **_: Any) -> PreemptionCall:
        return PreemptionCall(data["pod"], data["full"] or {} if data["meta"] is None else data["meta"])


class BindingSchema(_Envelope):
    """``ExtenderBindingArgs``. A pod without a uid is bound whatever its uid is."""

    name = _Raw(_text, data_key="PodName", validate=_NOT_EMPTY, **_REQUIRED)
    namespace = _Raw(_text, data_key="PodNamespace", validate=_NOT_EMPTY, **_REQUIRED)
    uid = _Raw(_text, data_key="PodUID", load_default="")
    node = _Raw(_text, data_key="Node", validate=_NOT_EMPTY, **_REQUIRED)

    @post_load
    def _make(self, data: Mapping[str, Any], **_: Any) -> Binding:
        return Binding(**data)


def load_call(body: Body) -> Call:
    """The request of filter and prioritize.

    Raises:
        MalformedError: see there.
    """
    call: Call = _load(_CALL, body)
    return call


def load_preemption(body: Body) -> PreemptionCall:
    """The request of preempt.

    Raises:
        MalformedError: see there.
    """
    call: PreemptionCall = _load(_PREEMPTION, body)
    return call


def load_binding(body: Body) -> Binding:
    """The request of bind.

    Raises:
        MalformedError: see there.
    """
    binding: Binding = _load(_BINDING, body)
    return binding


def _load(schema: Schema, body: Body) -> Any:
    try:
        envelope = decode(dict[str, msgspec.Raw], body)
    except DecodeError as error:
        what = "is empty" if not bytes(body).strip() else f"is not a JSON object: {error}"
        raise MalformedError(f"the request body {what}") from error
    keys = [field.data_key or name for name, field in schema.fields.items()]
    try:
        return schema.load(_members(envelope, keys))
    except ValidationError as error:
        raise MalformedError("; ".join(_faults(error.messages))) from error


def _faults(messages: Any, path: str = "") -> Iterator[str]:
    """``Pod: is missing``, ``Nodes.items[3].metadata.name: is missing``, …"""
    if isinstance(messages, Mapping):
        for key, inner in messages.items():
            yield from _faults(inner, f"{path}.{key}" if path else str(key))
    else:
        for message in messages:
            yield f"{path}: {message}"


_CALL = CallSchema()
_PREEMPTION = PreemptionSchema()
_BINDING = BindingSchema()
