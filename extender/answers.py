"""What the verbs answer, in the shapes and with the capitals of Go's types (``k8s.io/kube-scheduler/extender/v1``).

Every key is always there, as Go's encoder writes structs without JSON tags: a reader in any language finds ``Error`` and
``NodeNames`` where it looks for them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from extender.handlers import Verdict
from extender.schemas import Call, Proposal, SentNodes

_LINE_LIMIT = 2048
_NO_NODES = b'{"Nodes":null'


class _FilterResult(msgspec.Struct, rename="pascal"):
    nodes: None = None
    node_names: Sequence[str] | None = None
    failed_nodes: dict[str, str] = {}
    failed_and_unresolvable_nodes: dict[str, str] = {}
    error: str = ""


class _HostPriority(msgspec.Struct, rename="pascal"):
    host: str
    score: int


class _MetaPod(msgspec.Struct):
    uid: str = msgspec.field(name="UID")


class _MetaVictims(msgspec.Struct):
    pods: list[_MetaPod] = msgspec.field(name="Pods")
    violations: int = msgspec.field(name="NumPDBViolations")


class _PreemptionResult(msgspec.Struct):
    victims: dict[str, _MetaVictims] = msgspec.field(name="NodeNameToMetaVictims")


class _BindingResult(msgspec.Struct, rename="pascal"):
    error: str = ""


def filter_result(call: Call, verdict: Verdict) -> bytes:
    """``ExtenderFilterResult``, in the form of the request; nodes that were sent in full are repeated byte for byte."""
    result = _FilterResult(failed_nodes=verdict.failed, failed_and_unresolvable_nodes=verdict.unresolvable)
    if call.sent is not None:
        return _with_nodes(msgspec.json.encode(result), call.sent, verdict.passed)
    result.node_names = verdict.passed
    return msgspec.json.encode(result)


def filter_error(message: str) -> bytes:
    """``ExtenderFilterResult`` of a filter that could not judge: the caller's attempt fails with this text."""
    return msgspec.json.encode(_FilterResult(error=message))


def priorities(names: Sequence[str], scores: Sequence[int]) -> bytes:
    """``HostPriorityList``, one entry per name."""
    return msgspec.json.encode(list(map(_HostPriority, names, scores)))


def preemption_result(kept: Mapping[str, Proposal]) -> bytes:
    """``ExtenderPreemptionResult``, which has the meta form whatever the form of the request was."""
    victims = {
        node: _MetaVictims(list(map(_MetaPod, proposal.uids)), proposal.violations)
        for node, proposal in kept.items()
    }
    return msgspec.json.encode(_PreemptionResult(victims))


def binding_result(error: str) -> bytes:
    """``ExtenderBindingResult``; an empty error means that the pod is bound."""
    return msgspec.json.encode(_BindingResult(error))


def one_line(text: str) -> str:
    """A text for people and logs as one printable line, cut after 2,048 characters: parts of it may be a client's own words."""
    printable = "".join(letter if letter.isprintable() else " " for letter in text[:_LINE_LIMIT])
    return " ".join(printable.split()) + (" ..." if len(text) > _LINE_LIMIT else "")


def refusal(message: str) -> bytes:
    """The body of every answer whose status is not 200. kube-scheduler reads only the status; people read this."""
    return msgspec.json.encode(_BindingResult(message)) + b"\n"


def _with_nodes(result: bytes, sent: SentNodes, names: Sequence[str]) -> bytes:
    """The result with nodes in it. An encoder would grow a buffer; joined, they take their memory once, and as much as they need."""
    separated: list[bytes | msgspec.Raw] = [b","] * (2 * len(names) - 1)
    separated[::2] = [sent.raws[name] for name in names]
    start = (b'{"Nodes":{"metadata":', sent.metadata, b',"items":[')
    return b"".join((*start, *separated, b"]}", result.removeprefix(_NO_NODES)))
