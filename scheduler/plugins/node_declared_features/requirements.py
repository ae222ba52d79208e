"""Which declared features a pod needs from its node, and which of them a node has.

Kubelets list in ``status.declaredFeatures`` what they can do beyond what every supported kubelet can. The table below says how to tell from a
pod's spec that it needs such a feature; features that matter only to updates of running pods (in-place resizes) or not to pods at
all are left out, since they refuse no pod.

A feature leaves the table some releases after it is everywhere (upstream: ``MaxVersion``, compared with the scheduler's version);
none of 1.36's has such an end.

Upstream: ``k8s.io/component-helpers/nodedeclaredfeatures``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Final

from scheduler.apis.objects import Pod, PodSpec

RESTART_ALL_CONTAINERS: Final = "RestartAllContainersOnContainerExits"
USER_NAMESPACES_ON_HOST_NETWORK: Final = "UserNamespacesHostNetworkSupport"


def required(pod: Pod) -> frozenset[str]:
    """The features that a node must declare to run the pod."""
    return frozenset(name for name, needed in _NEEDED.items() if needed(pod.spec))


def recognized(declared: Sequence[str]) -> frozenset[str]:
    """The features that count as declared.

    Kubelets list them sorted, and kube-scheduler reads the list together with its own sorted one: after a name, only greater
    ones are found. So a feature behind a greater name does not count.
    """
    found = []
    greatest = ""
    for name in declared:
        if name > greatest:
            found.append(name)
            greatest = name
    return frozenset(found)


def _restarts_all_containers(spec: PodSpec) -> bool:
    return any(
        rule.action == "RestartAllContainers"
        for container in (*spec.containers, *spec.init_containers)
        for rule in container.restart_policy_rules
    )


def _has_users_on_host_network(spec: PodSpec) -> bool:
    return spec.host_network and spec.host_users is False


_NEEDED: Final[Mapping[str, Callable[[PodSpec], bool]]] = MappingProxyType(
    {
        RESTART_ALL_CONTAINERS: _restarts_all_containers,
        USER_NAMESPACES_ON_HOST_NETWORK: _has_users_on_host_network,
    }
)
