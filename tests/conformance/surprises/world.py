"""Small clusters in a line or two, and the scheduler's answer about the pod that waits in them."""

from __future__ import annotations

from typing import Any

from scheduler.explain.scenarios import answer_scenario
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.conformance.harness import make_workshop

Document = dict[str, Any]
HOST = "kubernetes.io/hostname"
ZONE = "topology.kubernetes.io/zone"
WORKSHOP = make_workshop()


def ask(pod: PodBuilder, *objects: Any) -> Any:
    """What the scheduler answers; ``objects`` are builders and manifests."""
    documents = [each if isinstance(each, dict) else each.doc() for each in objects]
    return answer_scenario({"name": "surprise", "objects": documents, "pod": pod.doc()}, WORKSHOP)


def reason(found: Any) -> str:
    """The first part of the sentence that is written into the event: what the filters say."""
    text: str = found["fitError"]
    return text.partition(". ")[0].rstrip(".")


def victims(found: Any) -> Any:
    """Whom preemption would evict, by node."""
    candidates = found["preemption"].get("candidates", {})
    return {node: candidate["victims"] for node, candidate in candidates.items()}


def node(name: str, zone: str = "", cpu: str = "4", memory: str = "16Gi", **more: Any) -> NodeBuilder:
    """A node with a hostname, in a zone if one is given."""
    made = make_node(name).capacity(cpu=cpu, memory=memory, **more).label(HOST, name)
    return made.label(ZONE, zone) if zone else made


def pending(**labels: str) -> PodBuilder:
    """The pod that is asked about."""
    return make_pod("pending").labels(labels)


def running(name: str, where: str, cpu: str = "", priority: int = 0, **labels: str) -> PodBuilder:
    """A pod on a node."""
    pod = make_pod(name).node(where).priority(priority).labels(labels)
    return pod.req(cpu=cpu) if cpu else pod


def each_on(*nodes: str, app: str) -> list[PodBuilder]:
    """A pod on each of the nodes."""
    return [running(f"r{number}", where, app=app) for number, where in enumerate(nodes)]


def spread(key: str = ZONE, when: str = "DoNotSchedule", **more: Any) -> Document:
    """A constraint on pods with ``app=web``, skew 1."""
    fields = {"maxSkew": 1, "topologyKey": key, "whenUnsatisfiable": when}
    return {**fields, "labelSelector": {"matchLabels": {"app": "web"}}, **more}


def term(key: str = HOST, selector: Document | None = None, **more: Any) -> Document:
    """An affinity term."""
    return {"topologyKey": key, "labelSelector": selector, **more}


def app(name: str) -> Document:
    """The selector of pods with this ``app``."""
    return {"matchLabels": {"app": name}}


def near(*terms: Document) -> Document:
    """Required affinity to pods."""
    return {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}


def apart(*terms: Document) -> Document:
    """Required anti-affinity."""
    return {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}
