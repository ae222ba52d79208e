"""Node: what a scheduler reads of it."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import Base, Condition, Int64, ObjectMeta
from scheduler.apis.objects.resources import ResourceList


class Taint(Base, frozen=True):
    """A taint keeps pods away that do not tolerate it; ``effect`` says how strictly."""

    key: str = ""
    value: str = ""
    effect: str = ""


class ContainerImage(Base, frozen=True):
    """An image that lies on the node, under each of its names; the size is in bytes."""

    names: tuple[str, ...] = ()
    size_bytes: Int64 = 0


class NodeSpec(Base, frozen=True):
    """``spec``: cordon and taints."""

    unschedulable: bool = False
    taints: tuple[Taint, ...] = ()


class NodeStatus(Base, frozen=True):
    """``status``: what the node has to give."""

    capacity: ResourceList = {}
    allocatable: ResourceList = {}
    images: tuple[ContainerImage, ...] = ()
    conditions: tuple[Condition, ...] = ()
    declared_features: tuple[str, ...] = ()


class Node(Base, frozen=True):
    """A node."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: NodeSpec = msgspec.field(default_factory=NodeSpec)
    status: NodeStatus = msgspec.field(default_factory=NodeStatus)
