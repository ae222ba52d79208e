"""What a waiting pod's required terms, and those of running pods, make of the nodes.

::

    affinity         a node passes when, for every term, its domain has a pod that all of the terms mean
    first of a group nobody is meant anywhere, and the pod itself would be: any node with all topology keys passes
    anti-affinity    a node passes when its domain has no pod that the term means, for each term
    existing pods'   a node passes when its domain has no pod with a term that means the waiting one

The counts are kept by domain. What-ifs leave them as they are: what comes or goes on a row is kept beside them, for this row.

Upstream: ``preFilterState`` and what fills it, ``satisfyPodAffinity``, ``satisfyPodAntiAffinity``,
``satisfyExistingPodsAntiAffinity``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.framework.facts import ABSENT
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import PodInfo
from scheduler.framework.rejections import BoolColumn, Column
from scheduler.plugins.helper.pod_labels import MatchingPods
from scheduler.plugins.inter_pod_affinity.domains import Domains
from scheduler.plugins.inter_pod_affinity.existing import TermIndex
from scheduler.plugins.inter_pod_affinity.namespaces import Meaning, Namespaces, joint_meaning, meaning
from scheduler.plugins.inter_pod_affinity.terms import AffinityTerm, PodTerms, required_anti_affinity


@dataclass(frozen=True, slots=True)
class Requirements:
    """What the waiting pod requires, its terms worked out.

    Attributes:
        pod: the waiting pod.
        namespace_labels: of its namespace.
        near: the pods that all of its affinity terms mean; None when it has none.
        near_keys: the topology keys of these terms.
        apart: the pods that each anti-affinity term means, and the term's topology key.
    """

    pod: Pod
    namespace_labels: Mapping[str, str]
    near: Meaning | None
    near_keys: tuple[str, ...]
    apart: tuple[tuple[Meaning, str], ...]

    @classmethod
    def of(cls, pod: Pod, terms: PodTerms, namespaces: Namespaces) -> Requirements:
        """Work out the required terms."""
        return cls(
            pod,
            namespaces.labels_of(pod.metadata.namespace),
            joint_meaning(terms.affinity, namespaces),
            tuple(dict.fromkeys(term.topology_key for term in terms.affinity)),
            tuple((meaning(term, namespaces), term.topology_key) for term in terms.anti_affinity),
        )

    @property
    def restricts(self) -> bool:
        """Whether anything is required."""
        return self.near is not None or bool(self.apart)

    @property
    def met_by_itself(self) -> bool:
        """Whether the pod is meant by all of its own affinity terms: then it may be the first of its group."""
        return self.near is not None and self.near.includes(self.pod)


@dataclass(frozen=True, slots=True)
class Census:
    """Pods by domain, for one attempt; a what-if has its own copy, and each row in it sees its own changes only.

    Attributes:
        requirements: what the waiting pod requires.
        near: the pods that all of its affinity terms mean.
        apart: the pods that an anti-affinity term of it means.
        averse: the pods with an anti-affinity term that means it.
    """

    requirements: Requirements
    near: Domains
    apart: Domains
    averse: Domains

    def clone(self) -> Census:
        """A copy for a what-if."""
        return Census(self.requirements, self.near.clone(), self.apart.clone(), self.averse.clone())

    def change(self, pod: PodInfo, nodes: Nodes, row: int, amount: int) -> None:
        """A pod came to a row (1) or went (-1)."""
        wanted = self.requirements
        if wanted.near is not None and wanted.near.includes(pod.pod):
            for key in wanted.near_keys:
                self.near.add(nodes, row, key, amount)
        for meant, key in wanted.apart:
            if meant.includes(pod.pod):
                self.apart.add(nodes, row, key, amount)
        for term in required_anti_affinity(pod):
            if term.means(wanted.pod, wanted.namespace_labels):
                self.averse.add(nodes, row, term.topology_key, amount)

    def lonely(self, nodes: Nodes) -> BoolColumn | None:
        """bool[rows]: the nodes where the pod would miss the company that it requires; None without such terms."""
        wanted = self.requirements
        if wanted.near is None:
            return None
        missing = np.zeros(len(nodes), np.bool_)
        for key in wanted.near_keys:
            missing |= ~self.near.positive(nodes, key)
        if wanted.met_by_itself:
            first = self.near.all_zero(nodes)
            for key in wanted.near_keys:
                first &= nodes.label_ids(key) != ABSENT
            missing &= ~first
        return missing


def take_census(
    nodes: Nodes, requirements: Requirements, matching: MatchingPods, existing: TermIndex[AffinityTerm]
) -> Census:
    """Count the pods of the whole table."""
    whole = nodes.whole
    company: dict[str, Column] = {}
    if requirements.near is not None:
        company = dict.fromkeys(requirements.near_keys, _counts(whole, requirements.near, matching))
    hated: dict[str, Column] = {}
    for meant, key in requirements.apart:
        _add_to(hated, key, _counts(whole, meant, matching))
    averse = _averse(whole, requirements.pod, existing)
    return Census(requirements, Domains.of(whole, company), Domains.of(whole, hated), averse)


def _averse(whole: Nodes, pod: Pod, existing: TermIndex[AffinityTerm]) -> Domains:
    index, terms = existing.meaning(pod, whole)
    by_key: dict[str, list[AffinityTerm]] = {}
    for term in terms:
        by_key.setdefault(term.topology_key, []).append(term)
    return Domains.of(whole, {key: index.counts(same, len(whole)) for key, same in by_key.items()})


def _counts(whole: Nodes, meant: Meaning, matching: MatchingPods) -> Column:
    return matching.counts(whole, meant.selector, meant.namespaces, skip_deleting=False)


def _add_to(columns: dict[str, Column], key: str, column: Column) -> None:
    known = columns.get(key)
    columns[key] = column if known is None else known + column
