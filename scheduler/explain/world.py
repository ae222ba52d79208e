"""World: a state of a cluster, the pending pod, and the profile that judges it, as the watches would have filled them.

Pods on a node run, unless they have ended. The others wait in the queue; those with a ``status.nominatedNodeName`` count on that node
once the queue lets them in: pods of every profile, since the queue is one. A pending pod that has a node is judged as if it did not run
yet.
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
        return _refusal(self.framework, pod)


def build_world(objects: Objects, pod: Pod, profiles: Profiles, workshop: Workshop) -> World:
    """Fill the world.

    Raises:
        InputError: an object's quantity cannot be read, or the pod's profile does not exist.
    """
    catalog = Catalog()
    framework = workshop.framework(profiles, pod.spec.scheduler_name, catalog)
    objects.fill(catalog)
    world = World(_cluster(objects), Nominator(), framework, _info(pod))
    frameworks = {framework.profile_name: framework}
    responsible = {profile.scheduler_name for profile in profiles}
    for other in objects.waiting():
        name = other.spec.scheduler_name
        if other.status.nominated_node_name and name in responsible:
            if name not in frameworks:
                frameworks[name] = workshop.framework(profiles, name, catalog)
            info = _info(other)
            if _refusal(frameworks[name], info).ok:
                world.nominator.add(info)
    return world


def _cluster(objects: Objects) -> ClusterState:
    cluster = ClusterState()
    for node in objects.nodes:
        try:
            cluster.add_node(node)
        except QuantityError as error:
            raise InputError(f"node {node.metadata.name}: {error}") from error
    for pod in objects.pods:
        try:
            if pod.spec.node_name:
                cluster.add_pod(pod)
        except QuantityError as error:
            raise InputError(f"pod {pod.full_name}: {error}") from error
    return cluster


def _refusal(framework: Framework, pod: PodInfo) -> Status:
    plugins = {framework.profile_name: framework.plugins_at("preEnqueue")}
    return Gates(plugins, NoMetrics(), lambda: 0.0).refusal(QueuedPodInfo(pod, 0.0))


def _info(pod: Pod) -> PodInfo:
    try:
        return PodInfo(pod)
    except QuantityError as error:
        raise InputError(f"pod {pod.full_name}: {error}") from error
