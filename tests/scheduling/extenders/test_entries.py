"""What the fields of an ``extenders:`` entry do, and what becomes of refusals and failures."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.builders import PodBuilder, make_node, make_pod
from tests.scheduling.desk import Desk
from tests.scheduling.extenders.servers import ExtenderServer, Nobody, answer

MakeDesk = Callable[..., Desk]
GPU = "example.com/gpu"


def pod(name: str = "p", **requests: str) -> PodBuilder:
    return make_pod(name).req(cpu="1", **requests).spec(schedulerName="default-scheduler")


def entry(extender: ExtenderServer, path: str = "", **fields: Any) -> dict[str, Any]:
    return {"urlPrefix": extender.url + path, "nodeCacheCapable": True, **fields}


def told(desk: Desk) -> str:
    """Run until the pod was refused; the text is returned."""
    desk.run_until(lambda: desk.ledger.patches)
    return str(desk.ledger.patches[-1][1]["conditions"][0]["message"])


def bound(desk: Desk) -> dict[str, str]:
    desk.run_until(lambda: desk.ledger.bound)
    return dict(desk.ledger.bound)


@pytest.mark.parametrize(
    ("resources", "asked"),
    [({}, False), ({"requests": {GPU: "1"}}, True), ({"limits": {GPU: "1"}}, True)],
    ids=["none", "requests", "limits"],
)
@pytest.mark.parametrize("field", ["containers", "initContainers"])
def test_only_pods_with_a_managed_resource_are_sent(
    extended: MakeDesk, extender: ExtenderServer, resources: dict[str, Any], asked: bool, field: str
) -> None:
    extender.answers["/filter"] = lambda request: answer({"NodeNames": request["NodeNames"]})
    managed = [{"name": GPU, "ignoredByScheduler": True}]
    desk = extended(entry(extender, filterVerb="filter", managedResources=managed))
    desk.put(make_node("n").capacity(cpu="4"))
    desk.put(pod().spec(**{field: [{"name": "c", "resources": resources}]}))
    assert bound(desk) == {"p": "n"}
    assert bool(extender.asked) is asked


def test_those_that_can_be_ignored_come_last(extended: MakeDesk, extender: ExtenderServer) -> None:
    for path in ("/first/f", "/second/f", "/third/f"):
        extender.answers[path] = lambda request: answer({"NodeNames": request["NodeNames"]})
    desk = extended(
        entry(extender, "/first", filterVerb="f", ignorable=True),
        entry(extender, "/second", filterVerb="f"),
        entry(extender, "/third", filterVerb="f"),
    )
    desk.put(make_node("n").capacity(cpu="4"), pod())
    assert bound(desk) == {"p": "n"}
    assert extender.paths() == ["/second/f", "/third/f", "/first/f"]


def test_any_event_brings_a_pod_back_that_an_extender_refused(
    extended: MakeDesk, extender: ExtenderServer
) -> None:
    extender.answers["/f"] = [answer({"FailedNodes": {"n": "not now"}}), answer({"NodeNames": ["n"]})]
    desk = extended(entry(extender, filterVerb="f"))
    desk.put(make_node("n").capacity(cpu="4"), pod())
    assert told(desk).startswith("0/1 nodes are available: 1 not now.")
    desk.put(make_node("n").capacity(cpu="4").label("a", "b"))
    desk.step()
    desk.pass_time(30)
    assert bound(desk) == {"p": "n"}


def test_a_reason_of_an_extender_stands_instead_of_a_filters(
    extended: MakeDesk, extender: ExtenderServer
) -> None:
    extender.answers["/f"] = [answer({"FailedNodes": {"big": "no", "small": "nor that"}})]
    desk = extended(entry(extender, filterVerb="f"))
    desk.put(make_node("big").capacity(cpu="4"), make_node("small").capacity(cpu="100m"), pod())
    assert told(desk).startswith("0/2 nodes are available: 1 no, 1 nor that.")


def test_an_extender_may_bind_whatever_others_decide(extended: MakeDesk, extender: ExtenderServer) -> None:
    extender.answers["/bind"] = [answer({})]
    desk = extended(entry(extender, bindVerb="bind"))
    desk.put(make_node("n").capacity(cpu="4"), pod())
    desk.run_until(lambda: ("Scheduled", "Successfully assigned default/p to n") in desk.ledger.events)
    asked = extender.asked[0].document
    assert asked == {"PodName": "p", "PodNamespace": "default", "PodUID": "Pod/default/p", "Node": "n"}
    assert desk.ledger.bound == []


def test_a_binder_that_can_be_ignored_leaves_it_to_the_plugins(extended: MakeDesk, nobody: Nobody) -> None:
    desk = extended({"urlPrefix": nobody.url, "bindVerb": "bind", "ignorable": True})
    desk.put(make_node("n").capacity(cpu="4"), pod())
    assert bound(desk) == {"p": "n"}


def test_scores_count_ten_times_the_weight(extended: MakeDesk, extender: ExtenderServer) -> None:
    extender.answers["/p"] = [answer([{"Host": "n1", "Score": 3}, {"Host": "n2", "Score": 1}])]
    desk = extended(entry(extender, prioritizeVerb="p", weight=7))
    desk.put(make_node("n1").capacity(cpu="4"), make_node("n2").capacity(cpu="4"), pod())
    assert bound(desk) == {"p": "n1"}
    desk.run_until(desk.scheduler.decisions.all)
    (record,) = desk.scheduler.decisions.all()
    assert record.scores[extender.url] == 210


def test_calls_are_counted_by_extender_verb_and_result(extended: MakeDesk, extender: ExtenderServer) -> None:
    extender.answers["/f"] = [answer({"NodeNames": ["n1", "n2"]})]
    desk = extended(entry(extender, filterVerb="f", prioritizeVerb="p", weight=1))
    desk.put(make_node("n1").capacity(cpu="4"), make_node("n2").capacity(cpu="4"), pod())
    bound(desk)

    def calls(verb: str, result: str) -> float | None:
        labels = {"extender": extender.url, "verb": verb, "result": result}
        name = "wharfinger_extender_call_duration_seconds_count"
        return desk.metrics.registry.get_sample_value(name, labels)

    assert (calls("filter", "success"), calls("prioritize", "error")) == (1, 1)


def test_connections_are_kept(extended: MakeDesk, extender: ExtenderServer) -> None:
    extender.answers["/f"] = lambda request: answer({"NodeNames": request["NodeNames"]})
    desk = extended(entry(extender, filterVerb="f"))
    desk.put(make_node("n").capacity(cpu="4"), pod("a"), pod("b"), pod("c"))
    desk.run_until(lambda: len(desk.ledger.bound) == 3)
    assert (len(extender.asked), extender.connections) == (3, 1)


def test_a_node_made_up_by_an_extender_is_left_out(extended: MakeDesk, extender: ExtenderServer) -> None:
    extender.answers["/f"] = [answer({"Nodes": {"items": [{"metadata": {"name": "made-up"}}]}})]
    desk = extended({"urlPrefix": extender.url, "filterVerb": "f"})
    desk.put(make_node("n").capacity(cpu="4"), pod())
    assert told(desk).startswith("0/1 nodes are available")
