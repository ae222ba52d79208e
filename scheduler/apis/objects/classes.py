"""What an API server reads when it completes a new pod: priority classes and runtime classes."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import Base, Int32, ObjectMeta
from scheduler.apis.objects.pod import Toleration
from scheduler.apis.objects.resources import ResourceList


class PriorityClass(Base, frozen=True):
    """A name for a priority."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    value: Int32 = 0
    global_default: bool = False
    preemption_policy: str | None = None


class Overhead(Base, frozen=True):
    """What every pod of a runtime class costs beside its containers."""

    pod_fixed: ResourceList = {}


class RuntimeScheduling(Base, frozen=True):
    """Where pods of a runtime class may run."""

    node_selector: dict[str, str] = {}
    tolerations: tuple[Toleration, ...] = ()


class RuntimeClass(Base, frozen=True):
    """How containers are run."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    overhead: Overhead | None = None
    scheduling: RuntimeScheduling | None = None
