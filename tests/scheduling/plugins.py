"""Out-of-tree plugins, as a user would write them, loaded with ``--plugin tests.scheduling.plugins:NAME``."""

from __future__ import annotations

from typing import Any, ClassVar

from scheduler.framework.cycle import Cycle
from scheduler.framework.events import ActionType, ClusterEvent, ClusterEventWithHint, EventResource
from scheduler.framework.interface import Wait
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.status import Status


class EvenNodesOnly:
    """Ten lines: a filter, one node at a time."""

    name = "EvenNodesOnly"

    def __init__(self, args: Any, handle: Any) -> None:
        self.message = (args or {}).get("message", "node is odd")

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        return None if int(node.name[-1]) % 2 == 0 else Status.unschedulable(self.message)


class Gang:
    """Holds pods until three of them wait, then lets all go."""

    name = "Gang"
    size = 3

    def __init__(self, args: Any, handle: Any) -> None:
        self.timeout = (args or {}).get("timeout", 60)
        self.waiting_pods = handle.waiting_pods

    def events_to_register(self) -> list[ClusterEventWithHint]:
        return [ClusterEventWithHint(ClusterEvent(EventResource.POD, ActionType.ADD))]

    def permit(self, cycle: Cycle, node: str) -> Wait | None:
        if len(self.waiting_pods) + 1 < self.size:
            return Wait(self.timeout)
        for waiting in self.waiting_pods:
            waiting.allow(self.name)
        return None


class Bookkeeper:
    """Writes down what is reserved and given back."""

    name = "Bookkeeper"
    log: ClassVar[list[str]] = []

    def __init__(self, args: Any, handle: Any) -> None:
        self.log.clear()

    def reserve(self, cycle: Cycle, node: str) -> Status | None:
        self.log.append(f"reserve {cycle.pod.metadata.name} on {node}")
        return None

    def unreserve(self, cycle: Cycle, node: str) -> None:
        self.log.append(f"unreserve {cycle.pod.metadata.name} on {node}")

    def post_bind(self, cycle: Cycle, node: str) -> None:
        self.log.append(f"bound {cycle.pod.metadata.name} on {node}")


def profile(name: str, args: Any = None) -> dict[str, Any]:
    """A configuration whose only profile has this plugin besides the default ones."""
    plugins = {"multiPoint": {"enabled": [{"name": name}]}}
    config = [{"name": name, "args": args}] if args else []
    one = {"schedulerName": "default-scheduler", "plugins": plugins, "pluginConfig": config}
    return {"profiles": [one]}
