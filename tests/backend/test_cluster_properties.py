"""Whatever comes, in whatever order: the table says what the pods add up to."""

from __future__ import annotations

from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from scheduler.apis.objects import Pod
from scheduler.backend.cluster import ClusterState
from tests.builders import make_node, make_pod

PODS = st.sampled_from(["p0", "p1", "p2", "p3"])
NODES = st.sampled_from(["n0", "n1", "n2"])
CPUS = st.sampled_from(["", "100m", "1", "2500m"])
PHASES = st.sampled_from(["", "Running", "Succeeded"])
PORTS = st.sampled_from([0, 80, 443])


def build(name: str, node: str, cpu: str, phase: str, port: int) -> Pod:
    pod = make_pod(name).node(node).status(phase=phase)
    pod.req({"cpu": cpu, "example.com/gpu": 1} if cpu else {})
    return (pod.host_port(port) if port else pod).obj()


OBJECTS = st.builds(build, PODS, NODES, CPUS, PHASES, PORTS)


class AnyOrder(RuleBasedStateMachine):
    """Events as an unreliable watch might deliver them, and decisions in between."""

    def __init__(self) -> None:
        super().__init__()
        self.cluster = ClusterState()

    @rule(name=NODES, cpu=st.integers(1, 8))
    def node_comes(self, name: str, cpu: int) -> None:
        self.cluster.add_node(make_node(name).capacity(cpu=cpu).obj())

    @rule(name=NODES)
    def node_goes(self, name: str) -> None:
        known = self.cluster.nodes.row_of(name) is not None
        assert self.cluster.delete_node(make_node(name).obj()) == known

    @rule(pod=OBJECTS)
    def pod_comes(self, pod: Pod) -> None:
        self.cluster.add_pod(pod)
        assert self.cluster.get_pod(pod.metadata.uid) == (None if pod.terminal else pod)
        assert not self.cluster.is_assumed(pod.metadata.uid)

    @rule(old=OBJECTS, new=OBJECTS)
    def pod_changes(self, old: Pod, new: Pod) -> None:
        self.cluster.update_pod(old, new)
        assert self.cluster.get_pod(new.metadata.uid) == (None if new.terminal else new)

    @rule(pod=OBJECTS)
    def pod_goes(self, pod: Pod) -> None:
        self.cluster.delete_pod(pod)
        assert self.cluster.get_pod(pod.metadata.uid) is None

    @rule(pod=OBJECTS, node=NODES)
    def pod_is_assumed(self, pod: Pod, node: str) -> None:
        if self.cluster.get_pod(pod.metadata.uid) is None:
            self.cluster.assume_pod(pod, node)
            assert self.cluster.is_assumed(pod.metadata.uid)

    @rule(pod=OBJECTS)
    def pod_is_forgotten(self, pod: Pod) -> None:
        assumed = self.cluster.is_assumed(pod.metadata.uid)
        assert self.cluster.forget_pod(pod.metadata.uid) == assumed

    @invariant()
    def adds_up(self) -> None:
        assert self.cluster.verify() == []


TestAnyOrder = AnyOrder.TestCase
TestAnyOrder.settings = settings(max_examples=60, stateful_step_count=30, deadline=None)
