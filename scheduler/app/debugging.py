"""What the debugger (SIGUSR2) needs of the API server: names of nodes, and identity and place of pods."""

from __future__ import annotations

import msgspec

from scheduler.client.lists import list_all
from scheduler.client.resources import NODES, PODS
from scheduler.client.rest import Rest
from scheduler.scheduling.debugger import Listed, listed

_DEFAULT_SCHEDULER = "default-scheduler"


class _Meta(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Spec(msgspec.Struct, rename="camel"):
    node_name: str = ""
    scheduler_name: str = _DEFAULT_SCHEDULER


class _Node(msgspec.Struct):
    metadata: _Meta


class _Pod(msgspec.Struct):
    metadata: _Meta
    spec: _Spec


def lists(rest: Rest, pods_selector: str) -> Listed:
    """What the API server has now; ``pods_selector``: the field selector with which pods are watched.

    Raises:
        scheduler.client.errors.ClientError: it does not say.
    """
    nodes = [node.metadata.name for node in list_all(rest, NODES, _Node)]
    pods = list_all(rest, PODS, _Pod, field_selector=pods_selector)
    return listed(nodes, [(pod.metadata.uid, pod.spec.node_name, pod.spec.scheduler_name) for pod in pods])
