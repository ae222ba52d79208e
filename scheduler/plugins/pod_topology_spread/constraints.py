"""What a pod's spread constraints say, selectors compiled and defaults filled in.

A pod without constraints of its own gets the profile's: the built-in ones (``System``) or those of the arguments (``List``).
These have no selector; it is derived from whatever owns or serves the pod, and a pod that nothing selects is left alone.

``matchLabelKeys`` narrows a selector to pods that share the incoming pod's values of these labels. An API server with
MatchLabelKeysInPodTopologySpreadSelectorMerge has written them into ``labelSelector`` already; to ask for the same label a second
time changes nothing, so both kinds of pods are spread alike. A selector that is absent stays one that matches nothing.

Upstream: ``plugins/podtopologyspread/common.go`` and ``getConstraints`` in ``plugin.go``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from scheduler.apis.config import args as config
from scheduler.apis.objects import Pod, TopologySpreadConstraint
from scheduler.apis.selectors import Operator, Requirement, Selector, SelectorError, compile_label_selector
from scheduler.framework.catalog import Catalog
from scheduler.plugins.pod_topology_spread.default_selector import default_selector

HOSTNAME: Final = "kubernetes.io/hostname"
ZONE: Final = "topology.kubernetes.io/zone"
DO_NOT_SCHEDULE: Final = "DoNotSchedule"
SCHEDULE_ANYWAY: Final = "ScheduleAnyway"
_HONOR: Final = "Honor"

SYSTEM_DEFAULTS: Final = (
    config.TopologySpreadConstraint(max_skew=3, topology_key=HOSTNAME, when_unsatisfiable=SCHEDULE_ANYWAY),
    config.TopologySpreadConstraint(max_skew=5, topology_key=ZONE, when_unsatisfiable=SCHEDULE_ANYWAY),
)

_Spec = TopologySpreadConstraint | config.TopologySpreadConstraint
_KIND: Final = {DO_NOT_SCHEDULE: "hard", SCHEDULE_ANYWAY: "soft"}


@dataclass(frozen=True, slots=True)
class Constraint:
    """One constraint, ready to be counted.

    Attributes:
        max_skew: by how many matching pods a domain may exceed the emptiest one.
        topology_key: the label whose values are the domains.
        selector: the pods that count, in the namespace of the pod that is placed.
        min_domains: with fewer domains than this, the emptiest one counts as having no pods.
        honors_affinity: only nodes that the pod's node selector and required affinity allow count.
        honors_taints: only nodes whose taints the pod tolerates count.
    """

    max_skew: int
    topology_key: str
    selector: Selector
    min_domains: int = 1
    honors_affinity: bool = True
    honors_taints: bool = False


class Constraints:
    """Says which constraints apply to a pod in one profile.

    Args:
        args: the default constraints.
        catalog: where the owners and services of pods are looked up.
        merges_keys: whether ``matchLabelKeys`` counts (the gate MatchLabelKeysInPodTopologySpread).
    """

    def __init__(self, args: config.PodTopologySpreadArgs, catalog: Catalog, *, merges_keys: bool) -> None:
        self._system_defaulted = args.defaulting_type == "System"
        self._defaults = SYSTEM_DEFAULTS if self._system_defaulted else args.default_constraints
        self._catalog = catalog
        self._merges_keys = merges_keys

    @property
    def have_defaults(self) -> bool:
        """Whether pods without constraints of their own get some."""
        return bool(self._defaults)

    def required(self, pod: Pod) -> Sequence[Constraint]:
        """Those with ``DoNotSchedule``.

        Raises:
            ValueError: a selector of the pod's cannot be read.
        """
        return self._of(pod, DO_NOT_SCHEDULE)

    def preferred(self, pod: Pod) -> Sequence[Constraint]:
        """Those with ``ScheduleAnyway``.

        Raises:
            ValueError: a selector of the pod's cannot be read.
        """
        return self._of(pod, SCHEDULE_ANYWAY)

    def require_all_keys(self, pod: Pod) -> bool:
        """Whether only nodes with every topology key are scored; the built-in defaults make do with a hostname alone."""
        return bool(pod.spec.topology_spread_constraints) or not self._system_defaulted

    def _of(self, pod: Pod, action: str) -> Sequence[Constraint]:
        own = pod.spec.topology_spread_constraints
        if not own:
            return self._default(pod, action)
        try:
            return self._compiled(own, pod.metadata.labels, action)
        except SelectorError as error:
            raise ValueError(
                f"obtaining pod's {_KIND[action]} topology spread constraints: {error}"
            ) from error

    def _default(self, pod: Pod, action: str) -> Sequence[Constraint]:
        found = self._compiled(self._defaults, pod.metadata.labels, action)
        selector = default_selector(pod, self._catalog) if found else None
        if selector is None or selector.empty:
            return ()
        return [replace(constraint, selector=selector) for constraint in found]

    def _compiled(
        self, specs: Iterable[_Spec], labels: Mapping[str, str], action: str
    ) -> Sequence[Constraint]:
        keys_count = self._merges_keys
        return [
            _compile(spec, labels, spec.match_label_keys if keys_count else ())
            for spec in specs
            if spec.when_unsatisfiable == action
        ]


def _compile(spec: _Spec, labels: Mapping[str, str], keys: Iterable[str]) -> Constraint:
    affinity, taints = spec.node_affinity_policy, spec.node_taints_policy
    return Constraint(
        max_skew=spec.max_skew,
        topology_key=spec.topology_key,
        selector=_narrowed(compile_label_selector(spec.label_selector), labels, keys),
        min_domains=1 if spec.min_domains is None else spec.min_domains,
        honors_affinity=affinity is None or affinity == _HONOR,
        honors_taints=taints == _HONOR,
    )


def _narrowed(selector: Selector, labels: Mapping[str, str], keys: Iterable[str]) -> Selector:
    own = tuple(Requirement(key, Operator.IN, (labels[key],)) for key in keys if key in labels)
    if not own or selector.nothing:
        return selector
    return Selector((*own, *selector.requirements))
