"""The bodies of the extender protocol (``k8s.io/kube-scheduler/extender/v1``), both ways.

Requests are written as Go writes them, with capitalised keys. Answers are read as Go reads them: keys in any case, unknown ones
skipped, null as the zero value, whatever follows the first value ignored, integers only where integers are due. A node that comes
back in full is looked at for its name alone, so that 40 MB of nodes do not become Python objects.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Final

import msgspec

from scheduler.framework.extenders import Victims

_LONGEST_ERROR: Final = 32_768
"""What ``metav1.Condition`` allows in a message; an extender could send 256 MiB of it into every event, log line and status."""
_INTEGER: Final = re.compile(rb"-?(0|[1-9][0-9]*)")
_INT64: Final = range(-(1 << 63), 1 << 63)
_KINDS: Final = {b"{": "object", b"[": "array", b'"': "string", b"t": "bool", b"f": "bool"}


class WireError(ValueError):
    """The answer cannot be read; the text is Go's wherever people know it."""


# Requests


class NodeList(msgspec.Struct):
    """Nodes in full."""

    metadata: dict[str, str]
    items: list[msgspec.Raw]


class ExtenderArgs(msgspec.Struct, rename="pascal"):
    """Filter and prioritize: the pod, and nodes in one of two forms."""

    pod: msgspec.Raw
    nodes: NodeList | None = None
    node_names: Sequence[str] | None = None


class ExtenderBindingArgs(msgspec.Struct, rename="pascal"):
    """Bind."""

    pod_name: str
    pod_namespace: str
    pod_uid: str = msgspec.field(name="PodUID")
    node: str


class MetaPod(msgspec.Struct):
    """A pod by its uid."""

    uid: str = msgspec.field(name="UID")


class WireVictims(msgspec.Struct, rename="pascal"):
    """The victims on one node: pods in full, or ``MetaPod``."""

    pods: list[Any]
    num_pdb_violations: int = msgspec.field(name="NumPDBViolations")


class ExtenderPreemptionArgs(msgspec.Struct, rename="pascal"):
    """Preempt: the pod, and the victims by node in one of two forms."""

    pod: msgspec.Raw
    node_name_to_victims: dict[str, WireVictims] | None
    node_name_to_meta_victims: dict[str, WireVictims] | None


def node_names_args(pod: bytes, names: Sequence[str]) -> bytes:
    """The body of filter and prioritize for an extender that knows the nodes."""
    return msgspec.json.encode(ExtenderArgs(msgspec.Raw(pod), node_names=names))


def nodes_args(pod: bytes, nodes: Iterable[bytes]) -> bytes:
    """The same for one that does not."""
    return msgspec.json.encode(
        ExtenderArgs(msgspec.Raw(pod), NodeList({}, [msgspec.Raw(one) for one in nodes]))
    )


def meta_victims_args(pod: bytes, victims: Sequence[Victims]) -> bytes:
    """The body of preempt for an extender that knows the pods."""
    meta = {
        each.node: WireVictims([MetaPod(one.uid) for one in each.pods], each.violations) for each in victims
    }
    return msgspec.json.encode(ExtenderPreemptionArgs(msgspec.Raw(pod), None, meta))


def victims_args(pod: bytes, victims: Sequence[Victims], originals: Mapping[str, bytes]) -> bytes:
    """The same for one that does not; ``originals``: the pods' JSON by uid."""
    full = {
        each.node: WireVictims([msgspec.Raw(originals[one.uid]) for one in each.pods], each.violations)
        for each in victims
    }
    return msgspec.json.encode(ExtenderPreemptionArgs(msgspec.Raw(pod), full, None))


def binding_args(name: str, namespace: str, uid: str, node: str) -> bytes:
    """The body of bind."""
    return msgspec.json.encode(ExtenderBindingArgs(name, namespace, uid, node))


# Answers


@dataclass(frozen=True, slots=True)
class FilterResult:
    """What a filter answered: ``names`` and ``node_names`` are None when absent.

    Attributes:
        node_names: those that passed.
        nodes: the names of the nodes that passed, when they came back in full.
    """

    node_names: Sequence[str] | None = None
    nodes: Sequence[str] | None = None
    failed: Mapping[str, str] = field(default_factory=dict)
    unresolvable: Mapping[str, str] = field(default_factory=dict)
    error: str = ""


@dataclass(frozen=True, slots=True)
class MetaVictims:
    """What preempt answered for one node."""

    uids: Sequence[str]
    violations: int


class _HostPriority(msgspec.Struct, rename="pascal", forbid_unknown_fields=True):
    host: str
    score: msgspec.Raw


class _LowerHostPriority(msgspec.Struct, forbid_unknown_fields=True):
    host: str
    score: msgspec.Raw


_SPELLINGS: Final[tuple[msgspec.json.Decoder[Any], ...]] = (
    msgspec.json.Decoder(list[_HostPriority]),
    msgspec.json.Decoder(list[_LowerHostPriority]),
)


def read_filter(body: bytes) -> FilterResult:
    """The answer to filter. Raises WireError."""
    found = _members(_value(body), "ExtenderFilterResult")
    return FilterResult(
        _each(found, "NodeNames", _text),
        _nodes(found),
        _by_name(found, "FailedNodes"),
        _by_name(found, "FailedAndUnresolvableNodes"),
        _told(found.get("error"), "ExtenderFilterResult.Error"),
    )


def read_priorities(body: bytes) -> Sequence[tuple[str, int]]:
    """The answer to prioritize: hosts and scores, as many as there are. Raises WireError."""
    value = _value(body)
    for exact in _SPELLINGS:  # there may be thousands of entries, and this is much faster
        with suppress(msgspec.DecodeError):
            return [(one.host, _integer(one.score, "HostPriority.Score")) for one in exact.decode(value)]
    scores = []
    for entry in _items(value, "HostPriorityList") or ():
        found = _members(entry, "HostPriority")
        host = _text(found.get("host"), "HostPriority.Host")
        scores.append((host, _integer(found.get("score"), "HostPriority.Score")))
    return scores


def read_preemption(body: bytes) -> Mapping[str, MetaVictims]:
    """The answer to preempt by node name. Raises WireError.

    A node for which null came has no victims; kube-scheduler 1.36 crashes of it.
    """
    found = _members(_value(body), "ExtenderPreemptionResult")
    nodes = _entries(found.get("nodenametometavictims"), "ExtenderPreemptionResult.NodeNameToMetaVictims")
    return {node: _meta_victims(raw) for node, raw in nodes.items()}


def read_error(body: bytes) -> str:
    """The answer to bind: empty when bound. Raises WireError."""
    return _told(_members(_value(body), "ExtenderBindingResult").get("error"), "ExtenderBindingResult.Error")


def _meta_victims(raw: msgspec.Raw) -> MetaVictims:
    found = _members(raw, "MetaVictims")
    pods = _items(found.get("pods"), "MetaVictims.Pods") or ()
    uids = [_text(_members(one, "MetaPod").get("uid"), "MetaPod.UID") for one in pods]
    return MetaVictims(uids, _integer(found.get("numpdbviolations"), "MetaVictims.NumPDBViolations"))


def _nodes(found: Mapping[str, msgspec.Raw]) -> Sequence[str] | None:
    raw = found.get("nodes")
    if raw is None or _is_null(raw):
        return None
    items = _items(_members(raw, "NodeList").get("items"), "NodeList.items") or ()
    metadata = (_members(one, "Node").get("metadata") for one in items)
    return [_text(_members(one, "ObjectMeta").get("name"), "ObjectMeta.name") for one in metadata]


def _by_name(found: Mapping[str, msgspec.Raw], key: str) -> Mapping[str, str]:
    place = f"ExtenderFilterResult.{key}"
    return {name: _text(raw, place) for name, raw in _entries(found.get(key.lower()), place).items()}


def _each(found: Mapping[str, msgspec.Raw], key: str, read: Any) -> Sequence[str] | None:
    place = f"ExtenderFilterResult.{key}"
    items = _items(found.get(key.lower()), place)
    return None if items is None else [read(one, place) for one in items]


# JSON as Go reads it


def _value(body: bytes) -> msgspec.Raw:
    """The first JSON value of the body; what follows is ignored."""
    try:
        msgspec.json.decode(body, type=msgspec.Raw)
        return msgspec.Raw(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return msgspec.Raw(_first_value(body))


def _first_value(body: bytes) -> bytes:
    text = body.decode(errors="replace").lstrip(" \t\r\n")
    if not text:
        raise WireError("EOF")
    try:
        _, end = json.JSONDecoder().raw_decode(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise WireError(_as_go_says(text, error)) from None
    value = text[:end].encode()
    try:
        msgspec.json.decode(value, type=msgspec.Raw)
    except msgspec.DecodeError as error:  # NaN, which Python takes for JSON
        raise WireError(f"invalid JSON: {error}") from None
    return value


def _as_go_says(text: str, error: Exception) -> str:
    if not isinstance(error, json.JSONDecodeError):
        return "exceeded max depth"
    if error.pos >= len(text) or error.msg.startswith("Unterminated"):
        return "unexpected EOF"
    where = "looking for beginning of value" if error.msg == "Expecting value" else f"({error.msg})"
    return f"invalid character {text[error.pos]!r} {where}"


def _is_null(raw: msgspec.Raw | None) -> bool:
    return raw is None or bytes(raw).strip() == b"null"


def _members(raw: msgspec.Raw | None, place: str) -> dict[str, msgspec.Raw]:
    """An object's members by their keys in lower case; of two spellings the last counts."""
    return {key.casefold(): value for key, value in _entries(raw, place).items()}


def _entries(raw: msgspec.Raw | None, place: str) -> dict[str, msgspec.Raw]:
    """An object's members by their keys as they stand."""
    found: dict[str, msgspec.Raw] | None = _read(raw, dict[str, msgspec.Raw] | None, place, "object")
    return found or {}


def _items(raw: msgspec.Raw | None, place: str) -> list[msgspec.Raw] | None:
    found: list[msgspec.Raw] | None = _read(raw, list[msgspec.Raw] | None, place, "array")
    return found


def _told(raw: msgspec.Raw | None, place: str) -> str:
    """An error's text, cut to what a condition should hold."""
    text = _text(raw, place)
    return text if len(text) <= _LONGEST_ERROR else f"{text[:_LONGEST_ERROR]}…"


def _text(raw: msgspec.Raw | None, place: str) -> str:
    found: str | None = _read(raw, str | None, place, "string")
    return found or ""


def _read(raw: msgspec.Raw | None, kind: Any, place: str, wanted: str) -> Any:
    if raw is None:
        return None
    try:
        return msgspec.json.decode(raw, type=kind)
    except msgspec.ValidationError:
        raise _mismatch(raw, place, wanted) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _read_loosely(bytes(raw), kind, place)
    except RecursionError:  # the first look at the body was nearer to the bottom of the stack
        raise WireError("exceeded max depth") from None


def _read_loosely(raw: bytes, kind: Any, place: str) -> Any:
    """What is no UTF-8 is replaced, as Go does."""
    try:
        return msgspec.json.decode(raw.decode(errors="replace"), type=kind)
    except msgspec.DecodeError as error:
        raise WireError(f"{place} cannot be read: {error}") from None


def _integer(raw: msgspec.Raw | None, place: str) -> int:
    if raw is None or _is_null(raw):
        return 0
    digits = bytes(raw).strip()
    if not _INTEGER.fullmatch(digits) or len(digits) > 20 or int(digits) not in _INT64:
        raise _mismatch(raw, place, "int64")
    return int(digits)


def _mismatch(raw: msgspec.Raw, place: str, wanted: str) -> WireError:
    text = bytes(raw).strip()
    kind = _KINDS.get(text[:1]) or f"number {text[:40].decode(errors='replace')}"
    return WireError(f"json: cannot unmarshal {kind} into Go struct field {place} of type {wanted}")
