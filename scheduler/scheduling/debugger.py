"""What an operator asks with SIGUSR2: does the scheduler believe what the API server says, and what does it believe?

::

    lists of the API server ──┐
                              ├──> differences ──> again a second later ──> those that are still there are logged
    cluster state and queue ──┘
                  └──> recomputed from its pods ──> every difference is logged
                  └──> nodes with their pods and nominations, pods that wait ──> logged

A watch is always a little late, so a difference counts when it is seen twice. (Upstream: ``backend/cache/debugger``, which compares with
the informers' copies; asking the API server finds what the informers missed, too.)
"""

from __future__ import annotations

import logging
import threading
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass

from scheduler.apis.objects import Pod
from scheduler.backend.places import ACTIVE, BACKOFF, GATED, UNSCHEDULABLE
from scheduler.client.errors import ClientError
from scheduler.framework.pods import PodInfo
from scheduler.framework.resource_names import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from scheduler.logkeys import keys
from scheduler.scheduling.scheduler import Scheduler

logger = logging.getLogger(__name__)

PAUSE_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class Listed:
    """What the API server has.

    Attributes:
        nodes: names.
        placed: uids of pods with a node.
        waiting: uids of pods without one, by ``schedulerName``.
    """

    nodes: frozenset[str]
    placed: frozenset[str]
    waiting: dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Differences:
    """Names of nodes and uids of pods that the scheduler misses, or has too many."""

    missed_nodes: frozenset[str]
    redundant_nodes: frozenset[str]
    missed_pods: frozenset[str]
    redundant_pods: frozenset[str]

    def also_in(self, other: Differences) -> Differences:
        """Those that are in both."""
        return Differences(
            self.missed_nodes & other.missed_nodes,
            self.redundant_nodes & other.redundant_nodes,
            self.missed_pods & other.missed_pods,
            self.redundant_pods & other.redundant_pods,
        )

    def __bool__(self) -> bool:
        return bool(self.missed_nodes or self.redundant_nodes or self.missed_pods or self.redundant_pods)


class Debugger:
    """Compares and dumps, at the latest request only: one that comes while another is being answered waits for its turn.

    Args:
        lists: asks the API server; raises ClientError.
        pause: seconds between the two looks.
    """

    def __init__(
        self, scheduler: Scheduler, lists: Callable[[], Listed], *, pause: float = PAUSE_SECONDS
    ) -> None:
        self._scheduler = scheduler
        self.lists = lists
        self._pause = pause
        self._turn = threading.Lock()

    def run(self) -> None:
        """Log what differs, then everything."""
        with self._turn:
            self._compare()
            self._dump()

    def _compare(self) -> None:
        logger.info("Cache comparer started")
        try:
            found = self._differences()
            if found:
                threading.Event().wait(self._pause)
                found = found.also_in(self._differences())
        except ClientError as error:
            logger.error("The cache cannot be compared with the API server: %s", error)
            return
        if found.missed_nodes or found.redundant_nodes:
            missed, redundant = sorted(found.missed_nodes), sorted(found.redundant_nodes)
            logger.warning("Cache mismatch", extra=keys(missedNodes=missed, redundantNodes=redundant))
        if found.missed_pods or found.redundant_pods:
            missed, redundant = sorted(found.missed_pods), sorted(found.redundant_pods)
            logger.warning("Cache mismatch", extra=keys(missedPods=missed, redundantPods=redundant))
        with self._scheduler.current():
            inconsistent = self._scheduler.cluster.verify()
        for each in inconsistent:
            logger.warning("Cache inconsistency: %s", each)
        logger.info("Cache comparer finished", extra=keys(mismatch=bool(found) or bool(inconsistent)))

    def _differences(self) -> Differences:
        listed = self.lists()
        with self._scheduler.current() as state:
            nodes = frozenset(state.nodes.names)
            placed = {info.uid for info in self._scheduler.cluster.pods()}
            waiting = {queued.pod_info.uid for _, queued in self._scheduler.queue.pending()}
            ours = [uids for name, uids in listed.waiting.items() if name in state.frameworks]
        believed = placed | waiting
        expected = listed.placed.union(*ours)
        return Differences(
            listed.nodes - nodes, nodes - listed.nodes, expected - believed, frozenset(believed - expected)
        )

    def _dump(self) -> None:
        with self._scheduler.current():
            nodes = list(self._nodes())
            waiting = [(place, queued.pod) for place, queued in self._scheduler.queue.pending()]
        logger.info("Dump of cached NodeInfo", extra=keys(nodes="\n".join(nodes)))
        logger.info(
            "Dump of scheduling queue",
            extra=keys(
                summary=_summary(place for place, _ in waiting), pods=_told(pod for _, pod in waiting)
            ),
        )

    def _nodes(self) -> Iterator[str]:
        nodes, nominator = self._scheduler.cluster.nodes, self._scheduler.queue.nominator
        resources = _resources(self._scheduler.cluster.pods())
        for row, name in enumerate(nodes.names):
            requested = {each: int(nodes.requested(each)[row]) for each in resources}
            allocatable = {each: int(nodes.allocatable(each)[row]) for each in resources}
            allocatable[PODS] = int(nodes.allowed_pods[row])
            pods = nodes.pods(row)
            nominated = nominator.nominated_on(name)
            yield (
                f"Node name: {name}\nRequested Resources: {_amounts(requested)}\n"
                f"Allocatable Resources: {_amounts(allocatable)}\n"
                f"Scheduled Pods(number: {len(pods)}):\n{_told(info.pod for info in pods)}"
                + (f"Nominated Pods(number: {len(nominated)}):\n" if nominated else "")
                + _told(info.pod for info in nominated)
            )


def _resources(pods: Iterable[PodInfo]) -> list[str]:
    """Native resources and whatever else a pod requests."""
    native = (CPU, MEMORY, EPHEMERAL_STORAGE)
    others = {name for info in pods for name in info.requests}
    return [*native, *sorted(others - set(native))]


def _amounts(amounts: dict[str, int]) -> str:
    return " ".join(f"{name}:{amount}{'m' if name == CPU else ''}" for name, amount in amounts.items())


def _summary(places: Iterable[str]) -> str:
    count = Counter(places)
    unschedulable = count[UNSCHEDULABLE] + count[GATED]
    return f"activeQ:{count[ACTIVE]}; backoffQ:{count[BACKOFF]}; unschedulablePods:{unschedulable}"


def _told(pods: Iterable[Pod]) -> str:
    return "".join(
        f"name: {pod.metadata.name}, namespace: {pod.metadata.namespace}, uid: {pod.metadata.uid}, "
        f"phase: {pod.status.phase}, nominated node: {pod.status.nominated_node_name}\n"
        for pod in pods
    )


def listed(nodes: Collection[str], pods: Iterable[tuple[str, str, str]]) -> Listed:
    """From names of nodes, and uid, node and ``schedulerName`` of pods."""
    placed: set[str] = set()
    waiting: dict[str, set[str]] = {}
    for uid, node, scheduler in pods:
        if node:
            placed.add(uid)
        else:
            waiting.setdefault(scheduler, set()).add(uid)
    return Listed(
        frozenset(nodes), frozenset(placed), {name: frozenset(uids) for name, uids in waiting.items()}
    )
