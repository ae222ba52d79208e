"""NodePorts: two containers on a node cannot listen on the same host port.

Ports collide when number and protocol are the same and the addresses overlap; ``0.0.0.0`` overlaps every address.

Upstream: ``plugins/nodeports``, ``framework.HostPortInfo``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from scheduler.apis.objects import Pod
from scheduler.framework.cycle import Cycle
from scheduler.framework.events import (
    ActionType,
    ClusterEvent,
    ClusterEventWithHint,
    EventResource,
    QueueingHint,
)
from scheduler.framework.facts import PortSet
from scheduler.framework.interface import Handle, PreFilterResult
from scheduler.framework.nodes import Nodes
from scheduler.framework.pods import ALL_ADDRESSES, HostPort, host_ports
from scheduler.framework.rejections import Reason, Rejections
from scheduler.framework.status import Status
from scheduler.plugins.helper.distinct import where
from scheduler.plugins.helper.hints import held_room
from scheduler.plugins.helper.notes import without_note

TAKEN: Final = Reason("node(s) didn't have free ports for the requested pod ports")
_WANTED: Final = "NodePorts/wanted"
_NO_NOTE: Final = 'reading "PreFilterNodePorts" from cycleState: not found'


class NodePorts:
    """Rejects nodes on which a port that the pod wants is taken."""

    name: Final = "NodePorts"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""

    def events_to_register(self) -> Sequence[ClusterEventWithHint]:
        """A pod went away, or a node appeared."""
        pod = ClusterEvent(EventResource.POD, ActionType.DELETE)
        node = ClusterEvent(EventResource.NODE, ActionType.ADD)
        return (ClusterEventWithHint(pod, after_pod_deleted), ClusterEventWithHint(node))

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult | Status | None:
        """Skip pods without host ports; note those of the others."""
        wanted = cycle.pod_info.host_ports
        if not wanted:
            return Status.skip()
        cycle.state[_WANTED] = wanted
        return None

    def filter(self, cycle: Cycle, nodes: Nodes) -> Rejections | None:
        """The rows on which one of the ports is taken."""
        wanted: Sequence[HostPort] | None = cycle.state.get(_WANTED)
        if wanted is None:
            return without_note(nodes, _NO_NOTE)
        taken = where(nodes.port_set_ids, nodes.port_sets, lambda ports: collide(wanted, ports))
        return None if taken is None else Rejections.where(taken, TAKEN)


def collide(wanted: Sequence[HostPort], taken: PortSet) -> bool:
    """Whether one of the wanted ports is taken."""
    return any(_collides(port, taken) for port in wanted)


def _collides(port: HostPort, taken: PortSet) -> bool:
    if port.ip == ALL_ADDRESSES:
        return any(other.port == port.port and other.protocol == port.protocol for other in taken)
    return port in taken or port._replace(ip=ALL_ADDRESSES) in taken


def after_pod_deleted(pod: Pod, old: Pod, new: Any) -> QueueingHint:
    """The pod that went away held a port that this one wants."""
    freed = held_room(old) and collide(host_ports(pod), frozenset(host_ports(old)))
    return QueueingHint.QUEUE if freed else QueueingHint.SKIP
