"""An extender that answers what it answered to a real kube-scheduler 1.36.2 is asked the same, and pods end as they did there."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from scheduler.apis.objects import PodDisruptionBudget, convert, decode_original_node, decode_original_pod
from tests.scheduling.desk import Desk
from tests.scheduling.extenders import traffic
from tests.scheduling.extenders.servers import Answer, Document, ExtenderServer, Nobody, by_name

CRASHES = {"preempt-nullvictims"}
"""kube-scheduler 1.36 panics; here the node has no victims, which is refused like an empty list."""
ANY_NODE = {
    "bind-500", "bind-empty", "bind-error", "bind-lie", "fail-both-maps", "bind-not-managed", "nodename-order", "prio-error", "prio-null", "prio-empty", "prio-float",
    "trailing-slash", "err-string-ignorable", "http-500-ignorable", "managed-ignored",
    "preempt-cct", "preempt-ccf", "preempt-pdb-cct", "preempt-nofilter-verb", "preempt-error-ignorable",
    "preempt-reprieve-by-filter", "preempt-two-ext",
}  # fmt: skip
"""Nodes were equally good, so any was taken."""


class Lab:
    """A scheduler on a desk, its recorded extender, and the pods of one case."""

    def __init__(self, name: str) -> None:
        self.server = ExtenderServer()
        self._nobody = Nobody()
        self.slow = threading.Event()
        self.case = traffic.moved(traffic.cases()[name], self.server.url, self._nobody.url)
        for exchange in self.case["exchanges"]:
            hold = self.slow if name == "slow" else None
            recorded = Answer(exchange["response"].encode(), exchange["status"], hold)
            self.server.answers[exchange["path"]].append(recorded)  # type: ignore[union-attr]
        self.desk = Desk(extenders=self.case["extenders"])
        self._version = 0
        for node in traffic.nodes_of(self.case):
            if name == "bind-not-managed":
                for amounts in ("capacity", "allocatable"):
                    node["status"][amounts]["example.com/gpu"] = "1"
            self.desk.nodes.put(decode_original_node(self._raw(node)))
        for victim in traffic.victims_of(name):
            self.put_pod(victim)
        if "pdb" in name:
            self._put_budget()

    def put_pod(self, pod: Document) -> None:
        self.desk.pods.put(decode_original_pod(self._raw(pod), placed=True))

    def pending(self) -> list[Document]:
        """The pods to schedule, in order."""
        pods = [traffic.pod_of(self.case, name) for name in sorted(self.case["pods"]) if name[0] != "v"]
        return [_adjusted(pod, self.case) for pod in pods]

    def settle(self, name: str) -> None:
        """Run until the pod is said to be bound, or it is written why it is not; and until its victims are gone."""
        said = f"Successfully assigned default/{name} to"
        self.desk.run_until(
            lambda: self.conditions(name) or any(note.startswith(said) for _, note in self.desk.ledger.events)
        )
        self.desk.run_until(lambda: len(self.desk.ledger.deleted) >= len(self.case["terminating"] or ()))

    def bound(self) -> dict[str, str]:
        return dict(self.desk.ledger.bound)

    def bound_by_extender(self) -> dict[str, str]:
        asked = (one.document for one in self.server.asked if one.path.endswith("/bind"))
        return {one["PodName"]: one["Node"] for one in asked}

    def conditions(self, name: str) -> list[tuple[str, str]]:
        patches = [patch for pod, patch in self.desk.ledger.patches if pod == name]
        return [
            (one["reason"], one["message"])
            for patch in patches
            for one in patch.get("conditions", ())
            if one["type"] == "PodScheduled"
        ]

    def close(self) -> None:
        self.slow.set()
        self.desk.close()
        self.server.close()
        self._nobody.close()

    def _raw(self, document: Document) -> msgspec.Raw:
        # Versions are kept where they were recorded; a store wants them, whatever they are.
        self._version += 1
        document["metadata"].setdefault("resourceVersion", str(self._version))
        return msgspec.Raw(json.dumps(document).encode())

    def _put_budget(self) -> None:
        budget = {
            "metadata": {"name": "b", "namespace": "default"},
            "spec": {"selector": {"matchLabels": {"app": "victim"}}},
        }
        self.desk.catalog.pod_disruption_budgets.put(convert(PodDisruptionBudget, budget))


def _adjusted(pod: Document, case: Document) -> Document:
    """What the pods of cases without a request asked for."""
    name = pod["metadata"]["name"]
    description = case["description"]
    requests = pod["spec"]["containers"][0]["resources"].setdefault("requests", {})
    if "no node has the resource" in description and name == "p2":
        requests["example.com/gpu"] = "1"
        pod["spec"]["containers"][0]["resources"]["limits"] = {"example.com/gpu": "1"}
    if "pod without the resource" in description and name == "p2":
        requests["example.com/gpu"] = "1"
    if "in-tree filters refuse every node" in description:
        pod["spec"]["nodeSelector"] = {"no": "where"}
    return pod


@pytest.fixture
def lab(name: str) -> Iterator[Lab]:
    made = Lab(name)
    yield made
    made.close()


@pytest.mark.parametrize("name", sorted(traffic.cases().keys() - CRASHES))
def test_pods_end_as_with_kube_scheduler(lab: Lab, name: str) -> None:
    for pod in lab.pending():
        lab.put_pod(pod)
        lab.settle(pod["metadata"]["name"])
    for pod in lab.pending():
        _compare(lab, name, pod["metadata"]["name"])


def _compare(lab: Lab, name: str, pod: str) -> None:
    expected = lab.case["pods"][pod]
    told = lab.conditions(pod)
    assert [message for _, message in told] == _refusals(lab.case, pod)
    for one in expected["conditions"] or ():
        if one["status"] == "False":
            assert told == [(one["reason"], one["message"])]
    if lab.case["terminating"] is not None:
        assert sorted(one for one, _ in lab.desk.ledger.deleted) == _terminating(lab, name)
    node = lab.bound().get(pod) or lab.bound_by_extender().get(pod)
    if not told and name not in ANY_NODE:
        assert node == expected["nodeName"]
    elif not told:
        assert node in ("node-a", "node-b", "node-c")


def _refusals(case: Document, pod: str) -> list[str]:
    """What was told, each text once: the recording has more attempts than one."""
    events = case["events"]
    return list(
        dict.fromkeys(
            note for about, why, note in events if (about, why) == (f"Pod/{pod}", "FailedScheduling")
        )
    )


def _terminating(lab: Lab, name: str) -> list[str]:
    """Whom kube-scheduler evicted; where any of them would do, whoever we did."""
    expected: list[str] = lab.case["terminating"]
    if name in ANY_NODE and len(lab.desk.ledger.deleted) == len(expected):
        return sorted(one for one, _ in lab.desk.ledger.deleted)
    return expected


@pytest.mark.parametrize("name", sorted(traffic.cases().keys() - CRASHES))
def test_extenders_are_asked_what_kube_scheduler_asked(lab: Lab, name: str) -> None:
    for pod in lab.pending():
        lab.put_pod(pod)
        lab.settle(pod["metadata"]["name"])
    recorded: dict[str, list[Any]] = {}
    for exchange in lab.case["exchanges"]:
        recorded.setdefault(exchange["path"], []).append(_comparable(exchange["request"]))
    for asked in lab.server.asked:
        if name not in ANY_NODE or not asked.path.endswith("/bind"):
            assert _comparable(asked.document) in recorded[asked.path]


def _comparable(request: Document) -> Document:
    """The request without what is in no order, or ours to choose."""
    same = json.loads(json.dumps(request))
    if same.get("NodeNames"):
        same["NodeNames"] = sorted(same["NodeNames"])
    if same.get("Nodes"):
        same["Nodes"]["items"] = by_name(same["Nodes"]["items"])
    return same


@pytest.mark.parametrize("name", sorted(CRASHES))
def test_what_crashes_kube_scheduler_is_refused_here(lab: Lab, name: str) -> None:
    (pod,) = lab.pending()
    lab.put_pod(pod)
    lab.settle("hi")
    ((reason, message),) = lab.conditions("hi")
    assert (reason, message.partition("preemption: ")[2]) == (
        "Unschedulable",
        'expected at least one victim pod on node "node-b"',
    )
