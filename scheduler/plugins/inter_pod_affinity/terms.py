"""The affinity terms of a pod, compiled so that equal terms of many pods are one key.

A term means the pods that its selector matches in its namespaces. These are listed, selected by labels, or, when neither is
said, the namespace of the pod that carries the term. 50 replicas carry the same term 50 times; compiled it is one hashable
value, which is looked at once (``TermIndex``).

Quirks: a list with one term that cannot be parsed is empty as a whole, while the pod's other lists stay in force; whoever
schedules the pod is told (``errors``), whoever meets it on a node is not. ``matchLabelKeys`` and ``mismatchLabelKeys`` are not
read: the API server has merged them into the selector when the pod was created.

Upstream: ``fwk.AffinityTerm``, ``GetAffinityTerms``, ``framework.PodInfo.Update``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple, TypeVar

from scheduler.apis.objects import Pod, PodAffinity, PodAffinityTerm, WeightedPodAffinityTerm
from scheduler.apis.selectors import Selector, SelectorError, compile_label_selector
from scheduler.framework.pods import PodInfo

T = TypeVar("T")
A = TypeVar("A")


@dataclass(frozen=True, slots=True)
class AffinityTerm:
    """A term of a running pod, or of one that waits.

    Attributes:
        namespaces: where the pods meant are, by name; where ``namespace_selector`` finds them too is added.
        namespace_selector: matches nothing when the term has none.
        selector: which pods are meant.
        topology_key: nodes with the same value of this label are one place.
    """

    namespaces: frozenset[str]
    namespace_selector: Selector
    selector: Selector
    topology_key: str
    _hash: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        parts = (self.namespaces, self.namespace_selector, self.selector, self.topology_key)
        object.__setattr__(self, "_hash", hash(parts))

    def __hash__(self) -> int:
        # Asked for whenever a pod comes or goes; the selectors in it take longer to hash than the rest of that work.
        return self._hash

    def means(self, pod: Pod, namespace_labels: Mapping[str, str]) -> bool:
        """Whether the pod is meant; ``namespace_labels`` are those of its namespace (upstream: ``AffinityTerm.Matches``)."""
        meta = pod.metadata
        here = meta.namespace in self.namespaces or self.namespace_selector.matches(namespace_labels)
        return here and self.selector.matches(meta.labels)


class WeightedTerm(NamedTuple):
    """A preferred term; the weight is negative for anti-affinity."""

    term: AffinityTerm
    weight: int


@dataclass(frozen=True, slots=True)
class PodTerms:
    """All terms of a pod.

    Attributes:
        affinity: required; all of them must be met by the same pods.
        anti_affinity: required, each on its own.
        preferred: affinity and anti-affinity.
        errors: why a list could not be read, a line each.
    """

    affinity: tuple[AffinityTerm, ...] = ()
    anti_affinity: tuple[AffinityTerm, ...] = ()
    preferred: tuple[WeightedTerm, ...] = ()
    errors: tuple[str, ...] = ()


_NO_TERMS: Final = PodTerms()
_NO_AFFINITY: Final = PodAffinity()


def terms_of(pod: Pod) -> PodTerms:
    """The terms of a pod; ``compiled_terms`` remembers them."""
    affinity = pod.spec.affinity
    if affinity is None or (affinity.pod_affinity is None and affinity.pod_anti_affinity is None):
        return _NO_TERMS
    near = affinity.pod_affinity or _NO_AFFINITY
    apart = affinity.pod_anti_affinity or _NO_AFFINITY
    errors: list[str] = []

    def term(raw: PodAffinityTerm) -> AffinityTerm:
        return _compiled(pod, raw)

    def liked(raw: WeightedPodAffinityTerm) -> WeightedTerm:
        return WeightedTerm(term(raw.pod_affinity_term), raw.weight)

    def disliked(raw: WeightedPodAffinityTerm) -> WeightedTerm:
        return WeightedTerm(term(raw.pod_affinity_term), -raw.weight)

    required = _each(near.required, term, "requiredAffinityTerms", errors)
    required_anti = _each(apart.required, term, "requiredAntiAffinityTerms", errors)
    preferred = _each(near.preferred, liked, "preferredAffinityTerms", errors)
    preferred += _each(apart.preferred, disliked, "preferredAntiAffinityTerms", errors)
    return PodTerms(required, required_anti, preferred, tuple(errors))


def compiled_terms(pod: PodInfo) -> PodTerms:
    """The terms of a pod, compiled once; most pods have none, and of these nothing is kept."""
    return _NO_TERMS if pod.pod.spec.affinity is None else pod.derived(terms_of)


def required_affinity(pod: PodInfo) -> tuple[AffinityTerm, ...]:
    """The keys of the index of pods by required affinity."""
    return compiled_terms(pod).affinity


def required_anti_affinity(pod: PodInfo) -> tuple[AffinityTerm, ...]:
    """The keys of the index of pods by required anti-affinity."""
    return compiled_terms(pod).anti_affinity


def preferences(pod: PodInfo) -> tuple[WeightedTerm, ...]:
    """The keys of the index of pods by preferred terms."""
    return compiled_terms(pod).preferred


def has_preferences(pod: Pod) -> bool:
    """Whether the pod lists any preferred term, readable or not."""
    affinity = pod.spec.affinity
    if affinity is None:
        return False
    return any(side and side.preferred for side in (affinity.pod_affinity, affinity.pod_anti_affinity))


def _each(raw: Sequence[A], read: Callable[[A], T], name: str, errors: list[str]) -> tuple[T, ...]:
    try:
        return tuple(map(read, raw))
    except SelectorError as error:
        errors.append(f"{name}: {error}")
        return ()


def _compiled(pod: Pod, raw: PodAffinityTerm) -> AffinityTerm:
    own = not raw.namespaces and raw.namespace_selector is None
    namespaces = (pod.metadata.namespace,) if own else raw.namespaces
    selector = compile_label_selector(raw.label_selector)
    namespace_selector = compile_label_selector(raw.namespace_selector)
    return AffinityTerm(frozenset(namespaces), namespace_selector, selector, raw.topology_key)
