"""The in-tree plugins once more, for one node at a time, written plainly from kube-scheduler's rules.

The columnar plugins have to answer the same (the adapter law). Nothing is shared with them but the objects, the compiled
selectors and the sums of requests: loops and Python integers instead of columns.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from fractions import Fraction

from scheduler.apis.objects import Taint, Toleration
from scheduler.apis.selectors import compile_node_selector, compile_preferred_terms
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.node_table import NodeTable
from scheduler.framework.pods import ALL_ADDRESSES
from scheduler.framework.resource_names import is_scalar
from scheduler.framework.resources import pod_requests
from scheduler.framework.status import Status

Shape = Sequence[tuple[int, int]]
Parts = Sequence[tuple[int, int, int]]
"""(weight, in use with the pod, allocatable) per resource that counts"""
Rate = Callable[[Parts], int]
NATIVE = ("cpu", "memory", "ephemeral-storage")


class NodeUnschedulable:
    name = "NodeUnschedulable"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        cordon = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
        if not node.node.spec.unschedulable or any(tolerates(t, cordon) for t in cycle.pod.spec.tolerations):
            return None
        return Status.unresolvable("node(s) were unschedulable")


class NodeName:
    name = "NodeName"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        if cycle.pod.spec.node_name in ("", node.name):
            return None
        return Status.unresolvable("node(s) didn't match the requested node name")


class TaintToleration:
    name = "TaintToleration"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        for taint in node.taints:
            if taint.effect == "PreferNoSchedule":
                continue
            if not any(tolerates(toleration, taint) for toleration in cycle.pod.spec.tolerations):
                return Status.unresolvable("node(s) had untolerated taint(s)")
        return None

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        count = 0
        for taint in node.taints:
            if taint.effect == "PreferNoSchedule":
                count += not any(tolerates(toleration, taint) for toleration in cycle.pod.spec.tolerations)
        return count


class NodeAffinity:
    name = "NodeAffinity"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        mismatch = Status.unresolvable("node(s) didn't match Pod's node affinity/selector")
        for key, value in cycle.pod.spec.node_selector.items():
            if node.labels.get(key) != value:
                return mismatch
        affinity = cycle.pod.spec.affinity
        required = affinity.node_affinity.required if affinity and affinity.node_affinity else None
        if required is None:
            return None
        matches, _ = compile_node_selector(required).match(node.labels, node.name)
        return None if matches else mismatch

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        affinity = cycle.pod.spec.affinity
        preferred = affinity.node_affinity.preferred if affinity and affinity.node_affinity else ()
        wanted, _ = compile_preferred_terms(preferred)
        return sum(each.weight for each in wanted if each.term.matches(node.labels, node.name))


class NodePorts:
    name = "NodePorts"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        for mine in cycle.pod_info.host_ports:
            for pod in node.pods:
                for theirs in pod.host_ports:
                    same = (mine.port, mine.protocol) == (theirs.port, theirs.protocol)
                    if same and (ALL_ADDRESSES in (mine.ip, theirs.ip) or mine.ip == theirs.ip):
                        return Status.unschedulable(
                            "node(s) didn't have free ports for the requested pod ports"
                        )
        return None


class NodeResourcesFit:
    """The filter, and a score out of any strategy for (requested, allocatable) of one resource."""

    name = "NodeResourcesFit"

    def __init__(self, resources: Sequence[tuple[str, int]], rate: Rate) -> None:
        self._resources = resources
        self._rate = rate

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        wanted = pod_requests(cycle.pod, use_status=False)
        reasons = ["Too many pods"] if len(node.pods) + 1 > node.allocatable("pods") else []
        hopeless = False
        for name in (*NATIVE, *sorted(set(wanted) - set(NATIVE))):
            amount = wanted.get(name, 0)
            if amount > 0 and amount > wrap(node.free(name)):
                reasons.append(f"Insufficient {name}")
                hopeless = hopeless or amount > node.allocatable(name)
        if not reasons:
            return None
        return Status.unresolvable(*reasons) if hopeless else Status.unschedulable(*reasons)

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        wanted = pod_requests(cycle.pod, use_status=False, pod_level=False, with_defaults=True)
        parts = []
        for name, weight in self._resources:
            amount, there_is = wanted.get(name, 0), node.allocatable(name)
            if there_is == 0 or not (name in NATIVE or (is_scalar(name) and amount)):
                continue
            parts.append((weight, wrap(self._in_use(node, name) + amount), there_is))
        return self._rate(parts)

    @staticmethod
    def _in_use(node: NodeInfo, name: str) -> int:
        if name == "cpu":
            return wrap(sum(pod.nonzero_requests[0] for pod in node.pods))
        if name == "memory":
            return wrap(sum(pod.nonzero_requests[1] for pod in node.pods))
        return node.requested(name)


class BalancedAllocation:
    name = "NodeResourcesBalancedAllocation"

    def __init__(self, resources: Sequence[str]) -> None:
        self._resources = resources

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        wanted = cycle.pod_info.requests
        counted = [
            name
            for name in self._resources
            if node.allocatable(name) and (name in NATIVE or (is_scalar(name) and wanted.get(name)))
        ]
        before = [(node.requested(name), node.allocatable(name)) for name in counted]
        after = [
            (wrap(used + wanted.get(name, 0)), total)
            for name, (used, total) in zip(counted, before, strict=True)
        ]
        return 50 + quotient(wrap(50 + evenness(after) - evenness(before)), 2)


class ImageLocality:
    """Needs the whole cluster: how far an image has spread is part of its worth."""

    name = "ImageLocality"

    def __init__(self, cluster: NodeTable) -> None:
        self._cluster = cluster

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        spec = cycle.pod.spec
        found = 0
        for container in (*spec.init_containers, *spec.containers):
            name = (
                container.image if ":" in container.image.rpartition("/")[2] else container.image + ":latest"
            )
            if any(name in image.names for image in node.node.status.images):
                found += self._worth(name)
        low, high = 23 << 20, (1000 << 20) * (len(spec.containers) + len(spec.init_containers))
        found = low if found < low else min(found, high)
        return quotient(100 * (found - low), high - low)

    def _worth(self, name: str) -> int:
        nodes = [
            node for node in self._cluster.objects if any(name in image.names for image in node.status.images)
        ]
        size = next(image.size_bytes for image in nodes[0].status.images if name in image.names)
        return int(float(size) * (float(len(nodes)) / float(len(self._cluster.objects))))


class NodeDeclaredFeatures:
    name = "NodeDeclaredFeatures"
    known = ("RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport")

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        spec = cycle.pod.spec
        rules = [
            rule for each in (*spec.containers, *spec.init_containers) for rule in each.restart_policy_rules
        ]
        needs = (
            any(rule.action == "RestartAllContainers" for rule in rules),
            spec.host_network and spec.host_users is False,
        )
        has = self._merged(node.node.status.declared_features)
        if all(name in has for name, needed in zip(self.known, needs, strict=True) if needed):
            return None
        return Status.unresolvable("node(s) didn't match Pod's required features")

    def _merged(self, declared: Sequence[str]) -> set[str]:
        """What two pointers find that walk through both lists as if both were sorted."""
        found, here, there = set(), 0, 0
        while here < len(declared) and there < len(self.known):
            one, other = declared[here], self.known[there]
            if one == other:
                found.add(one)
            here += one <= other
            there += one >= other
        return found


def least_allocated(parts: Parts) -> int:
    total = sum(
        weight * (0 if used > there_is else quotient(wrap((there_is - used) * 100), there_is))
        for weight, used, there_is in parts
    )
    return quotient(wrap(total), sum(weight for weight, _, _ in parts))


def most_allocated(parts: Parts) -> int:
    total = sum(
        weight * quotient(wrap(min(used, there_is) * 100), there_is) for weight, used, there_is in parts
    )
    return quotient(wrap(total), sum(weight for weight, _, _ in parts))


def by_shape(shape: Shape) -> Rate:
    def rate(parts: Parts) -> int:
        scores = [
            (weight, on_line(shape, 100 if used > there_is else quotient(wrap(used * 100), there_is)))
            for weight, used, there_is in parts
        ]
        scores = [(weight, score) for weight, score in scores if score > 0]
        weights = sum(weight for weight, _ in scores)
        # Halves go up: floats of such small numbers are exact enough for the difference never to matter.
        return math.floor(Fraction(sum(w * s for w, s in scores), weights) + Fraction(1, 2)) if weights else 0

    return rate


def on_line(shape: Shape, argument: int) -> int:
    for place, (right, high) in enumerate(shape):
        if argument <= right:
            if place == 0:
                return high
            left, low = shape[place - 1]
            return low + quotient((high - low) * (argument - left), right - left)
    return shape[-1][1]


def evenness(parts: Sequence[tuple[int, int]]) -> int:
    shares = [min(float(used) / float(there_is), 1.0) for used, there_is in parts]
    deviation = 0.0
    if len(shares) == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif len(shares) > 2:
        total = 0.0
        for share in shares:
            total += share
        mean = total / float(len(shares))
        squares = 0.0
        for share in shares:
            squares = squares + (share - mean) * (share - mean)
        deviation = math.sqrt(squares / float(len(shares)))
    score = (1 - deviation) * 100.0
    return int(score) if abs(score) < 2.0**63 else -(1 << 63)


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    if toleration.effect not in ("", taint.effect) or toleration.key not in ("", taint.key):
        return False
    if toleration.operator == "Exists":
        return True
    return toleration.operator in ("", "Equal") and toleration.value == taint.value


def quotient(dividend: int, divisor: int) -> int:
    """Go's integer division; 0 instead of a panic."""
    if divisor == 0:
        return 0
    size = abs(dividend) // abs(divisor)
    return size if (dividend < 0) == (divisor < 0) else -size


def wrap(number: int) -> int:
    """Go's int64."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)
