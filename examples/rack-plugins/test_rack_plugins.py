"""The plugins as kube-scheduler meets them: through the extender's verbs. The fixture comes with Wharfinger."""

import pytest
from rack_plugins import Licenses, RackRoom


def node(name, rack, licenses=0):
    labels = {"example.org/rack": rack, "example.org/licenses": str(licenses)}
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name, "labels": labels}}


def pod(name, on=None, *, licensed=True, priority=0):
    labels = {"example.org/needs-license": ""} if licensed else {}
    metadata = {"name": name, "namespace": "default", "uid": name, "labels": labels}
    spec = {"nodeName": on, "priority": priority}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


@pytest.fixture
def extender(wharfinger_extender):
    nodes = [node("a1", "a", licenses=1), node("a2", "a", licenses=1), node("b1", "b")]
    return wharfinger_extender(*nodes, pod("solver", "a1"), plugins=[Licenses, RackRoom])


def test_licenses_are_not_given_twice(extender):
    answer = extender.filter(pod("another"))
    assert answer["NodeNames"] == ["a2"]
    assert answer["FailedNodes"] == {"a1": "node(s) had all licenses taken"}
    assert answer["FailedAndUnresolvableNodes"] == {"b1": "node(s) had no licenses"}


def test_pods_that_need_none_go_anywhere(extender):
    assert extender.filter(pod("web", licensed=False))["NodeNames"] == ["a1", "a2", "b1"]


def test_emptier_racks_are_preferred(extender):
    assert extender.prioritize(pod("web", licensed=False)) == {"a1": 0, "a2": 0, "b1": 10}


def test_a_license_is_worth_an_eviction(extender):
    assert extender.preempt(pod("urgent", priority=10), {"a1": [], "a2": [], "b1": []}) == {
        "a1": ["solver"],
        "a2": [],
    }
