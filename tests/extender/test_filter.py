"""Filter judges the nodes sent, no others, and says why it refuses one in kube-scheduler's words."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from scheduler.framework.cycle import Cycle
from scheduler.framework.interface import PreFilterResult
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.nodes import Nodes
from scheduler.framework.status import Status
from tests.builders import make_node, make_pod
from tests.extender.builders import PLUGINS, ask, by_name, client, framework, three_nodes, world

TAINTED = "node(s) had untolerated taint(s)"


def test_only_the_nodes_sent_are_answered() -> None:
    answer = ask(client(world(*three_nodes())), "/filter", by_name(make_pod().doc(), "node-c", "node-a"))
    assert answer["NodeNames"] == ["node-c", "node-a"]


def test_a_node_sent_twice_is_answered_once() -> None:
    names = ("node-a", "node-b", "node-a")
    answer = ask(client(world(*three_nodes())), "/filter", by_name(make_pod().doc(), *names))
    assert answer["NodeNames"] == ["node-a", "node-b"]


def test_refusals_are_sorted_by_whether_evictions_help() -> None:
    made = world(
        make_node("full").capacity(cpu="4", memory="8Gi").obj(),
        make_node("cordoned").capacity(cpu="4", memory="8Gi").unschedulable().obj(),
        make_node("fits").capacity(cpu="4", memory="8Gi").obj(),
    )
    made.add_pods(make_pod("big").req(cpu="4", memory="8Gi").node("full").obj())
    pod = make_pod().req(cpu="1", memory="1Gi").doc()
    answer = ask(client(made), "/filter", by_name(pod, "full", "cordoned", "fits"))
    assert answer["NodeNames"] == ["fits"]
    assert answer["FailedNodes"] == {"full": "Insufficient cpu, Insufficient memory"}
    assert answer["FailedAndUnresolvableNodes"] == {"cordoned": "node(s) were unschedulable"}


def test_an_unknown_node_fails_alone() -> None:
    names = ("node-zz", "node-a")
    answer = ask(client(world(*three_nodes())), "/filter", by_name(make_pod().doc(), *names))
    assert answer["NodeNames"] == ["node-a"]
    assert answer["FailedNodes"] == {"node-zz": "node is not known to this scheduler"}
    assert answer["Error"] == ""


def test_no_candidates_are_no_error() -> None:
    answer = ask(client(world(*three_nodes())), "/filter", by_name(make_pod().doc()))
    assert (answer["NodeNames"], answer["FailedNodes"], answer["Error"]) == ([], {}, "")


def test_nodes_that_pre_filter_left_out_are_unresolvable() -> None:
    pinned = {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["node-b"]}]}
    pod = make_pod().node_affinity(pinned).doc()
    answer = ask(client(world(*three_nodes())), "/filter", by_name(pod, "node-a", "node-b", "node-zz"))
    assert answer["NodeNames"] == ["node-b"]
    assert answer["FailedAndUnresolvableNodes"] == {
        "node-a": "node(s) didn't satisfy plugin(s) [NodeAffinity]"
    }
    assert list(answer["FailedNodes"]) == ["node-zz"]


def test_a_pod_that_pre_filter_refuses_fails_every_node() -> None:
    exclusive = {
        "matchFields": [
            {"key": "metadata.name", "operator": "In", "values": ["node-a"]},
            {"key": "metadata.name", "operator": "In", "values": ["node-b"]},
        ]
    }
    pod = make_pod().node_affinity(exclusive).doc()
    answer = ask(client(world(*three_nodes())), "/filter", by_name(pod, "node-a", "node-b"))
    reason = "pod affinity terms conflict"
    assert answer["FailedAndUnresolvableNodes"] == {"node-a": reason, "node-b": reason}


def test_a_nominated_pod_keeps_its_room() -> None:
    made = world(*three_nodes())
    made.nominator.add(make_pod("first").req(cpu="4").priority(10).info(), "node-a")
    pod = make_pod().req(cpu="1").priority(5).doc()
    answer = ask(client(made), "/filter", by_name(pod, "node-a", "node-b"))
    assert answer["NodeNames"] == ["node-b"]
    assert answer["FailedNodes"] == {"node-a": "Insufficient cpu"}


def test_a_nomination_of_the_pod_itself_does_not_hide_other_nodes() -> None:
    made = world(*three_nodes())
    pod = make_pod().req(cpu="1").nominated("node-a")
    made.nominator.add(pod.info(), "node-a")
    answer = ask(client(made), "/filter", by_name(pod.doc(), "node-b", "node-a"))
    assert answer["NodeNames"] == ["node-b", "node-a"]


def test_a_pod_that_is_counted_already_does_not_compete_with_itself() -> None:
    made = world(*three_nodes())
    pod = make_pod().req(cpu="3").host_port(80)
    made.cluster.assume_pod(pod.info(), "node-a")
    answer = ask(client(made), "/filter", by_name(pod.doc(), "node-a", "node-b"))
    assert answer["NodeNames"] == ["node-a", "node-b"]
    assert made.cluster.verify() == []
    other = make_pod("other").req(cpu="3").doc()
    assert ask(client(made), "/filter", by_name(other, "node-a"))["FailedNodes"] == {
        "node-a": "Insufficient cpu"
    }


def test_the_configured_share_of_nodes_does_not_apply() -> None:
    made = world(*(make_node(f"n{number}").capacity(cpu="4").obj() for number in range(300)))
    made.frameworks[next(iter(made.frameworks))].percentage_of_nodes_to_score = 5
    names = [f"n{number}" for number in range(300)]
    assert ask(client(made), "/filter", by_name(make_pod().doc(), *names))["NodeNames"] == names


class TestProfiles:
    """Who judges: the profile of the path, else the pod's own, else the default, else the first."""

    made = world(
        make_node("tainted").taint("gpu").obj(),
        frameworks=[
            framework("strict"),
            framework("lenient", [name for name in PLUGINS if name != "TaintToleration"]),
        ],
    )

    @pytest.mark.parametrize(
        ("path", "scheduler", "default", "fits"),
        [
            pytest.param("/filter", "lenient", None, True, id="the pod's own"),
            pytest.param("/filter", "another-scheduler", None, False, id="the first"),
            pytest.param("/filter", "another-scheduler", "lenient", True, id="the default"),
            pytest.param("/filter", "strict", "lenient", False, id="the pod's own before the default"),
            pytest.param("/profiles/lenient/filter", "strict", None, True, id="the path's"),
        ],
    )
    def test_choice(self, path: str, scheduler: str, default: str | None, fits: bool) -> None:
        body = by_name(make_pod().spec(schedulerName=scheduler).doc(), "tainted")
        answer = ask(client(self.made, default_profile=default), path, body)
        assert bool(answer["NodeNames"]) is fits
        assert answer["FailedAndUnresolvableNodes"].get("tainted", "").startswith(TAINTED) is not fits


class Failing:
    """A plugin with a bug."""

    name = "Failing"

    def __init__(self, args: Any, handle: Any) -> None:
        pass

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        raise ZeroDivisionError("division by zero")


class Nowhere(Failing):
    """Narrows to a node that does not exist."""

    name = "Nowhere"

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> PreFilterResult:
        return PreFilterResult(frozenset({"node-zz"}))


def test_a_plugin_that_fails_is_an_error_in_the_answer() -> None:
    made = world(*three_nodes(), frameworks=[framework(extra={"Failing": Failing})])
    answer = ask(client(made), "/filter", by_name(make_pod().doc(), "node-a"))
    assert answer["Error"].startswith(
        'running Filter plugin "Failing": division by zero (the log tells more: failure '
    )
    assert (answer["Nodes"], answer["NodeNames"], answer["FailedNodes"]) == (None, None, {})


class Silent(Failing):
    """Refuses every pod without a word."""

    name = "Silent"

    def pre_filter(self, cycle: Cycle, nodes: Nodes) -> Status:
        return Status.unschedulable()


def test_a_refusal_without_a_reason_is_a_refusal() -> None:
    made = world(*three_nodes(), frameworks=[framework(extra={"Silent": Silent})])
    answer = ask(client(made), "/filter", by_name(make_pod().doc(), "node-a"))
    assert (answer["NodeNames"], answer["FailedNodes"]) == ([], {"node-a": ""})


def test_nodes_outside_a_narrowing_are_not_judged() -> None:
    made = world(*three_nodes(), frameworks=[framework(extra={"Nowhere": Nowhere})])
    answer = ask(client(made), "/filter", by_name(make_pod().doc(), "node-a"))
    assert answer["FailedAndUnresolvableNodes"] == {"node-a": "node(s) didn't satisfy plugin(s) [Nowhere]"}


def test_many_callers_at_once_get_their_own_answers() -> None:
    made = world(*three_nodes())
    flask = client(made).application
    answers: dict[int, Any] = {}

    def call(cpus: int) -> None:
        for _ in range(20):
            body = by_name(make_pod(f"p{cpus}").req(cpu=str(cpus)).doc(), "node-a", "node-b")
            answers[cpus] = ask(flask.test_client(), "/filter", body)

    threads = [threading.Thread(target=call, args=(cpus,)) for cpus in (1, 9, 2, 8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {cpus: len(answer["NodeNames"]) for cpus, answer in answers.items()} == {1: 2, 9: 0, 2: 2, 8: 0}
