"""What every object carries: metadata, references and selectors.

All structs here are *partial*: they hold what scheduling reads and skip the rest of the wire form unread, which is what
makes 50,000 pods decode in seconds. Field names are camelCase on the wire. ``gc=False`` keeps them out of Python's cycle
collector: they hold only strings, numbers, tuples and dicts and can form no cycle.
"""

from __future__ import annotations

from typing import Annotated

import msgspec

Timestamp = Annotated[str, msgspec.Meta(extra={"format": "date-time"})]
"""RFC 3339 text, ``""`` when unset; ``strict.verify`` tells whether it can be read."""
Int32 = Annotated[int, msgspec.Meta(ge=-(2**31), le=2**31 - 1)]
Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""Python's integers have no end, columns have: what is too large for Kubernetes is refused where it is read."""


class Base(msgspec.Struct, rename="camel", gc=False, kw_only=True, omit_defaults=True, frozen=True):
    """Common base: camelCase on the wire, unknown fields ignored, absent means the zero value; immutable, so shared freely."""


class OwnerReference(Base, frozen=True):
    """The controller or owner of an object."""

    api_version: str = ""
    kind: str = ""
    name: str = ""
    uid: str = ""
    controller: bool = False


class ObjectMeta(Base, frozen=True):
    """``metadata``: identity, labels and the two timestamps that scheduling reads (RFC 3339 text, ``""`` when unset)."""

    name: str = ""
    namespace: str = ""
    uid: str = ""
    resource_version: str = ""
    generation: Int64 = 0
    labels: dict[str, str] = {}
    annotations: dict[str, str] = {}
    creation_timestamp: Timestamp = ""
    deletion_timestamp: Timestamp = ""
    owner_references: tuple[OwnerReference, ...] = ()


class LabelSelectorRequirement(Base, frozen=True):
    """One ``matchExpressions`` entry of a label selector, or of a node selector term."""

    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


class LabelSelector(Base, frozen=True):
    """A label selector: ``match_labels`` and every one of ``match_expressions`` must hold."""

    match_labels: dict[str, str] = {}
    match_expressions: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelectorTerm(Base, frozen=True):
    """All expressions and fields of one term must hold; an empty term matches nothing."""

    match_expressions: tuple[LabelSelectorRequirement, ...] = ()
    match_fields: tuple[LabelSelectorRequirement, ...] = ()


class NodeSelector(Base, frozen=True):
    """Terms are alternatives: one that matches suffices."""

    node_selector_terms: tuple[NodeSelectorTerm, ...] = ()


class Condition(Base, frozen=True):
    """A status condition; ``status`` is ``True``, ``False`` or ``Unknown``."""

    type: str = ""
    status: str = ""
    reason: str = ""
    message: str = ""
    observed_generation: Int64 = 0
    last_probe_time: Timestamp = ""
    last_transition_time: Timestamp = ""


class Namespace(Base, frozen=True):
    """A namespace: affinity terms select namespaces by these labels."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
