"""Namespaces by label, and what a waiting pod's terms mean once their namespace selectors are worked out.

The two directions differ, as upstream's do. A term of the *waiting* pod selects among the namespaces that exist: a pod in a
namespace that nobody knows is not meant by it, unless the selector is empty, which means everywhere. A term of a *running* pod
is held against the labels of the waiting pod's namespace; when that namespace is unknown, against none.

Upstream: ``mergeAffinityTermNamespacesIfNotEmpty`` as it was meant (see ``docs/differences.md``),
``GetNamespaceLabelsSnapshot``, ``podMatchesAllAffinityTerms``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from scheduler.apis.objects import Namespace, Pod
from scheduler.apis.selectors import Selector
from scheduler.framework.catalog import Collection
from scheduler.plugins.inter_pod_affinity.terms import AffinityTerm

_MOST_SELECTORS: Final = 256
_NO_LABELS: Final[Mapping[str, str]] = {}


class Namespaces:
    """The namespaces of the catalog; remembers what selectors selected until one of them changes."""

    __slots__ = ("_known", "_selected", "_version")

    def __init__(self, known: Collection[Namespace]) -> None:
        self._known = known
        self._selected: dict[Selector, frozenset[str]] = {}
        self._version = known.version

    @property
    def version(self) -> int:
        """Grows when a namespace comes, goes or changes."""
        return self._known.version

    def labels_of(self, name: str) -> Mapping[str, str]:
        """The labels of a namespace; none when it is not known."""
        found = self._known.get(name)
        return _NO_LABELS if found is None else found.metadata.labels

    def selected_by(self, selector: Selector) -> frozenset[str]:
        """The names of the namespaces with matching labels."""
        if self._version != self._known.version or len(self._selected) >= _MOST_SELECTORS:
            self._selected.clear()
            self._version = self._known.version
        found = self._selected.get(selector)
        if found is None:
            names = (
                each.metadata.name for each in self._known.all() if selector.matches(each.metadata.labels)
            )
            found = self._selected[selector] = frozenset(names)
        return found


class Meaning(NamedTuple):
    """Which pods are meant. ``namespaces`` None stands for all of them."""

    selector: Selector
    namespaces: frozenset[str] | None

    def includes(self, pod: Pod) -> bool:
        """Whether the pod is meant."""
        meta = pod.metadata
        here = self.namespaces is None or meta.namespace in self.namespaces
        return here and self.selector.matches(meta.labels)


def meaning(term: AffinityTerm, namespaces: Namespaces) -> Meaning:
    """What a term of a waiting pod means now."""
    chosen = term.namespace_selector
    if chosen.empty:
        return Meaning(term.selector, None)
    selected = frozenset[str]() if chosen.nothing else namespaces.selected_by(chosen)
    return Meaning(term.selector, term.namespaces | selected)


def joint_meaning(terms: Iterable[AffinityTerm], namespaces: Namespaces) -> Meaning | None:
    """The pods that every one of the terms means; None without terms: then no pod is (upstream's rule)."""
    parts = [meaning(term, namespaces) for term in terms]
    if not parts:
        return None
    limits = [part.namespaces for part in parts if part.namespaces is not None]
    selector = Selector(
        tuple(requirement for part in parts for requirement in part.selector.requirements),
        any(part.selector.nothing for part in parts),
    )
    return Meaning(selector, frozenset.intersection(*limits) if limits else None)
