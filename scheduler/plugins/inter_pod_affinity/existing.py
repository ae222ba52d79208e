"""TermIndex: which terms of running pods mean the waiting pod.

The terms are the keys of an index of pods (``Nodes.pods_by``). For each namespace and set of labels that waiting pods come
with, it is remembered which terms mean them, and only terms that appeared since are examined; a change of any namespace starts
over.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable
from typing import Final, Generic, TypeVar

from scheduler.apis.objects import Pod
from scheduler.framework.nodes import Nodes
from scheduler.framework.pod_index import PodIndex, PodKeys
from scheduler.plugins.inter_pod_affinity.namespaces import Namespaces
from scheduler.plugins.inter_pod_affinity.terms import AffinityTerm

K = TypeVar("K", bound=Hashable)

_MOST_GROUPS: Final = 256
_Group = tuple[str, frozenset[tuple[str, str]]]


class TermIndex(Generic[K]):
    """Terms of running pods.

    Args:
        keys_of: the terms of a pod, as ``Nodes.pods_by`` takes it.
        term_of: the term in one of these keys.
        namespaces: whose labels the terms may ask for.
    """

    __slots__ = ("_found", "_index", "_keys_of", "_namespaces", "_term_of")

    def __init__(
        self, keys_of: PodKeys[K], term_of: Callable[[K], AffinityTerm], namespaces: Namespaces
    ) -> None:
        self._keys_of = keys_of
        self._term_of = term_of
        self._namespaces = namespaces
        self._index: PodIndex[K] | None = None
        self._found: dict[_Group, _Found[K]] = {}

    def meaning(self, pod: Pod, nodes: Nodes) -> tuple[PodIndex[K], Collection[K]]:
        """The index of the whole table, and those of its keys whose terms mean the pod."""
        index = nodes.pods_by(self._keys_of)
        if index is not self._index:
            self._index = index
            self._found.clear()
        return index, self._among(index, pod) if len(index) else ()

    def _among(self, index: PodIndex[K], pod: Pod) -> Collection[K]:
        namespaces, term_of = self._namespaces, self._term_of
        labels = namespaces.labels_of(pod.metadata.namespace)
        found = self._remembered((pod.metadata.namespace, frozenset(pod.metadata.labels.items())))
        if found.namespaces_version != namespaces.version:
            found.version = -1
            found.namespaces_version = namespaces.version
        if found.version != index.version:
            found.refresh(index, lambda key: term_of(key).means(pod, labels))
        return found.keys

    def _remembered(self, group: _Group) -> _Found[K]:
        found = self._found.pop(group, None)
        if found is None:
            found = _Found()
            if len(self._found) >= _MOST_GROUPS:
                del self._found[next(iter(self._found))]
        self._found[group] = found
        return found


class _Found(Generic[K]):
    """The keys for one group of waiting pods, as of these versions of the index and the namespaces; -1: not looked yet."""

    __slots__ = ("keys", "namespaces_version", "version")

    def __init__(self) -> None:
        self.keys: set[K] = set()
        self.version = -1
        self.namespaces_version = -1

    def refresh(self, index: PodIndex[K], means_pod: Callable[[K], bool]) -> None:
        """Examine the keys that came or went since."""
        changed = index.changed_since(self.version)
        if changed is None:
            self.keys.clear()
            changed = index.keys()
        for key in changed:
            if key in index and means_pod(key):
                self.keys.add(key)
            else:
                self.keys.discard(key)
        self.version = index.version
