"""Who owns pods, serves them or protects them: a scheduler reads only which pods they select."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import Base, Int32, LabelSelector, ObjectMeta, Timestamp


class LabelsSpec(Base, frozen=True):
    """A selector in its oldest form: labels that must be equal."""

    selector: dict[str, str] = {}


class Service(Base, frozen=True):
    """A service."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: LabelsSpec = msgspec.field(default_factory=LabelsSpec)


class ReplicationController(Base, frozen=True):
    """A replication controller."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: LabelsSpec = msgspec.field(default_factory=LabelsSpec)


class SelectorSpec(Base, frozen=True):
    """A label selector; None selects nothing."""

    selector: LabelSelector | None = None


class ReplicaSet(Base, frozen=True):
    """A replica set."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: SelectorSpec = msgspec.field(default_factory=SelectorSpec)


class StatefulSet(Base, frozen=True):
    """A stateful set."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: SelectorSpec = msgspec.field(default_factory=SelectorSpec)


class PodDisruptionBudgetStatus(Base, frozen=True):
    """How many pods may be disrupted now, and which are about to be already."""

    disruptions_allowed: Int32 = 0
    disrupted_pods: dict[str, Timestamp] = {}


class PodDisruptionBudget(Base, frozen=True):
    """A disruption budget."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: SelectorSpec = msgspec.field(default_factory=SelectorSpec)
    status: PodDisruptionBudgetStatus = msgspec.field(default_factory=PodDisruptionBudgetStatus)
