"""UnschedulablePods: refused and gated pods, set aside until something changes.

Pods are kept in groups of equals: same profile, same rejectors, same gate. Whether an event may interest a pod at all depends
on nothing else, so that it is decided once per group, and thousands of pods that wait for room are not looked at when a label
changes somewhere.

Upstream: ``backend/queue/unschedulable_pods.go``, which has no groups.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from scheduler.backend.queued import QueuedPodInfo


class Group(NamedTuple):
    """What the pods of a group have in common."""

    profile: str
    rejectors: frozenset[str]
    gating_plugin: str

    @classmethod
    def of(cls, queued: QueuedPodInfo) -> Group:
        """The group that a pod belongs to."""
        return cls(queued.pod.spec.scheduler_name, frozenset(queued.rejectors), queued.gating_plugin)


class UnschedulablePods:
    """Pods set aside, by name and by group.

    Attributes:
        gated: the number of gated pods among them.
    """

    def __init__(self) -> None:
        self.gated = 0
        self._group_of: dict[str, Group] = {}
        self._groups: dict[Group, dict[str, QueuedPodInfo]] = {}

    def __len__(self) -> int:
        return len(self._group_of)

    def __contains__(self, name: str) -> bool:
        return name in self._group_of

    def __iter__(self) -> Iterator[QueuedPodInfo]:
        for pods in self._groups.values():
            yield from pods.values()

    def get(self, name: str) -> QueuedPodInfo | None:
        """The pod of that name."""
        group = self._group_of.get(name)
        return None if group is None else self._groups[group][name]

    def put(self, queued: QueuedPodInfo) -> bool:
        """Set a pod aside, or take note of what became of one that is here; whether it is new here."""
        name = queued.name
        new = self.remove(name) is None
        group = self._group_of[name] = Group.of(queued)
        self._groups.setdefault(group, {})[name] = queued
        self.gated += bool(group.gating_plugin)
        return new

    def remove(self, name: str) -> QueuedPodInfo | None:
        """Take out the pod of that name, if it is here."""
        group = self._group_of.pop(name, None)
        if group is None:
            return None
        pods = self._groups[group]
        queued = pods.pop(name)
        self.gated -= bool(group.gating_plugin)
        if not pods:
            del self._groups[group]
        return queued

    def groups(self) -> list[Group]:
        """The groups that have pods now; the caller may move pods while it goes through them."""
        return list(self._groups)

    def members(self, group: Group) -> list[QueuedPodInfo]:
        """The pods of a group as they are now."""
        return list(self._groups.get(group, {}).values())
