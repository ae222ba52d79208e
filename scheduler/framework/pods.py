"""PodInfo: a pod and what scheduling derives from it once, so that no cycle derives it again."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple, TypeVar

from scheduler.apis.objects import Pod
from scheduler.framework.resources import is_sidecar, nonzero_requests, pod_requests

T = TypeVar("T")

ALL_ADDRESSES: Final = "0.0.0.0"  # noqa: S104  # the wildcard address, as the API writes it


class HostPort(NamedTuple):
    """A port of the node that a container takes. Empty IP means ``0.0.0.0``, empty protocol ``TCP``."""

    ip: str
    protocol: str
    port: int


class PodInfo:
    """A pod with its derived facts. Immutable by convention: an updated pod gets a new PodInfo.

    Attributes:
        pod: the object.
        requests: what the pod holds of its node once placed, by resource name: cpu in millicores, memory and
            ephemeral-storage in bytes, others in units. In-place resizes count as upstream counts them
            (``PodRequests`` with ``UseStatusResources``).
        nonzero_requests: cpu and memory for scoring, where absent requests count as 100m and 200 MB.
        host_ports: the ports of the node that its containers take.
        notes: what ``derived`` has worked out.
    """

    __slots__ = ("host_ports", "nonzero_requests", "notes", "pod", "requests")

    def __init__(self, pod: Pod) -> None:
        self.pod = pod
        self.requests: Mapping[str, int] = pod_requests(pod, use_status=True)
        self.nonzero_requests: tuple[int, int] = nonzero_requests(pod, use_status=True)
        self.host_ports: tuple[HostPort, ...] = host_ports(pod)
        self.notes: dict[Callable[[Pod], Any], Any] = {}

    def with_pod(self, pod: Pod) -> PodInfo:
        """The same facts for another state of the pod which asks for the same: on a node now, or with a newer status."""
        twin = PodInfo.__new__(PodInfo)
        twin.pod = pod
        twin.requests = self.requests
        twin.nonzero_requests = self.nonzero_requests
        twin.host_ports = self.host_ports
        twin.notes = {}
        return twin

    def derived(self, derive: Callable[[Pod], T]) -> T:
        """What the function makes of the pod, worked out once: for facts that one plugin needs, and that cost something."""
        notes = self.notes
        if derive not in notes:
            notes[derive] = derive(self.pod)
        found: T = notes[derive]
        return found

    @property
    def uid(self) -> str:
        """The pod's uid: its identity."""
        return self.pod.metadata.uid

    @property
    def priority(self) -> int:
        """The pod's priority."""
        return self.pod.priority

    def __repr__(self) -> str:
        return f"PodInfo({self.pod.full_name})"


def host_ports(pod: Pod) -> tuple[HostPort, ...]:
    """The host ports of a pod's containers and sidecars (upstream: ``util.GetHostPorts``)."""
    sidecars = filter(is_sidecar, pod.spec.init_containers)
    return tuple(
        HostPort(port.host_ip or ALL_ADDRESSES, port.protocol or "TCP", port.host_port)
        for container in (*pod.spec.containers, *sidecars)
        for port in container.ports
        if port.host_port > 0
    )
