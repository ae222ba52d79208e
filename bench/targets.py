"""What was promised, by the text of the measurement, for a machine of 2 cores; a measurement without an entry is for orientation."""

from collections.abc import Mapping
from typing import Final, NamedTuple


class Target(NamedTuple):
    """A bound, in the measurement's unit, that the value must not cross."""

    bound: float
    at_least: bool = False

    def missed_by(self, value: float) -> bool:
        """Whether the value is on the wrong side."""
        return value < self.bound if self.at_least else value > self.bound

    def __str__(self) -> str:
        return f"{'≥' if self.at_least else '≤'} {self.bound:,g}"


TARGETS: Final[Mapping[str, Target]] = {
    "scheduling cycle, 5000 nodes, all scored: median": Target(1),
    "scheduling cycle, 100000 nodes, all scored: median": Target(15),
    "cycle: plain pod": Target(1.2),
    "cycle: required anti-affinity on hostname": Target(2),
    "cycle: required affinity on zone": Target(2),
    "cycle: preferred affinity on hostname": Target(3),
    "cycle: topology spread on zone": Target(2),
    "cycle: topology spread on hostname": Target(3),
    "cycle: bound CSI volume": Target(2),
    "cycle: unschedulable pod with its message": Target(4),
    "preemption: dry run over 100 candidates": Target(30),
    "preemption: dry run over 100 candidates, spread on zone": Target(30),
    "preemption: dry run over 100 candidates, anti-affinity on hostname": Target(30),
    "explain --scenarios, 1,000 vectors": Target(20),
    "5000 nodes and 50000 pods: decode and apply": Target(10),
    "5000 nodes and 50000 pods: resident": Target(600),
    "assume and forget": Target(20),
    "filter, 5000 names, all fit": Target(4),
    "filter, 5000 names, none fits": Target(4),
    "prioritize, 5000 names": Target(5),
    "filter, 5000 nodes in full": Target(350),
    "filter, 5000 nodes in full: peak extra memory / body": Target(3),
    "filter, 100 names, 8 connections: calls per second": Target(600, at_least=True),
    "10,000 connections opened and dropped: threads left": Target(0),
    "10,000 connections opened and dropped: file descriptors left": Target(0),
    "10,000 connections opened and dropped: memory left": Target(5),
    "sandbox: bindings per second, 8 clients": Target(1_500, at_least=True),
    "demo: first pod bound, median of 3": Target(3),
}
