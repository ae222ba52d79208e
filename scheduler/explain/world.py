"""World: a state of a cluster, the pending pod, and the profile that judges it, as the watches would have filled them.

Pods on a node run, unless they have ended. The others wait in the queue; those with a ``status.nominatedNodeName`` count on that node
once the queue lets them in. A pending pod that has a node is judged as if it did not run yet.
"""

from __future__ import annotations

from dataclasses import dataclass

from scheduler.apis.objects import Pod
from scheduler.apis.quantity import QuantityError
from scheduler.backend.cluster import ClusterState
from scheduler.backend.gates import Gates
from scheduler.backend.nominator import Nominator
from scheduler.backend.queued import NoMetrics, QueuedPodInfo
from scheduler.explain.objects import InputError, Objects
from scheduler.explain.profiles import Profiles, Workshop
from scheduler.framework.catalog import Catalog
from scheduler.framework.pods import PodInfo
from scheduler.framework.runtime import Framework
from scheduler.framework.status import Status


@dataclass(frozen=True, slots=True)
class World:
    """A pod in a cluster, ready to be judged."""

    cluster: ClusterState
    nominator: Nominator
    framework: Framework
    pod: PodInfo

    def pre_enqueue(self, pod: PodInfo) -> Status:
        """What the queue's gates say to the pod, a new one each time."""
        plugins = {self.framework.profile_name: self.framework.plugins_at("preEnqueue")}
        return Gates(plugins, NoMetrics(), lambda: 0.0).refusal(QueuedPodInfo(pod, 0.0))


def build_world(objects: Objects, pod: Pod, profiles: Profiles, workshop: Workshop) -> World:
    """Fill the world.

    Raises:
        InputError: an object's quantity cannot be read, or the pod's profile does not exist.
    """
    catalog = Catalog()
    framework = workshop.framework(profiles, pod.spec.scheduler_name, catalog)
    objects.fill(catalog)
    world = World(ClusterState(), Nominator(), framework, _info(pod))
    for node in objects.nodes:
        try:
            world.cluster.add_node(node)
        except QuantityError as error:
            raise InputError(f"node {node.metadata.name}: {error}") from error
    for other in objects.pods:
        _add_pod(world, other)
    return world


def _add_pod(world: World, pod: Pod) -> None:
    if not pod.spec.node_name:
        _nominate(world, pod)
        return
    try:
        world.cluster.add_pod(pod)
    except QuantityError as error:
        raise InputError(f"pod {pod.full_name}: {error}") from error


def _nominate(world: World, pod: Pod) -> None:
    """A pod's nomination counts once it is let into the queue of this profile."""
    if pod.status.nominated_node_name and pod.spec.scheduler_name == world.framework.profile_name:
        info = _info(pod)
        if world.pre_enqueue(info).ok:
            world.nominator.add(info)


def _info(pod: Pod) -> PodInfo:
    try:
        return PodInfo(pod)
    except QuantityError as error:
        raise InputError(f"pod {pod.full_name}: {error}") from error
