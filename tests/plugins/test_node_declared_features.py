"""NodeDeclaredFeatures: pods that use what only newer kubelets can do go where a kubelet declares it."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.features import Features
from scheduler.framework.events import ActionType, EventResource, QueueingHint
from scheduler.framework.status import Code
from tests.builders import NodeBuilder, PodBuilder, make_node, make_pod
from tests.plugins.harness import Handle, make_plugin, rejections, table

NAME = "NodeDeclaredFeatures"
RESTART, USERS = "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport"
REASON = "node(s) didn't match Pod's required features"


def declaring(*features: str, name: str = "n") -> NodeBuilder:
    return make_node(name).status(declaredFeatures=list(features))


def restarting(action: str = "RestartAllContainers", *, init: bool = False) -> PodBuilder:
    """A pod, one of whose containers has a rule for what happens when it exits."""
    container = {"name": "c", "image": "app", "restartPolicyRules": [{"action": action}]}
    return make_pod("p").spec(**{"initContainers" if init else "containers": [container]})


def on_host_network(host_users: bool | None) -> PodBuilder:
    return make_pod("p").spec(hostNetwork=True, hostUsers=host_users)


BOTH = restarting().spec(hostNetwork=True, hostUsers=False)


@pytest.mark.parametrize(
    ("pod", "features", "rejected"),
    [
        pytest.param(make_pod("p"), (), False, id="a plain pod runs anywhere"),
        pytest.param(restarting(), (RESTART,), False, id="a restart of all containers, declared"),
        pytest.param(restarting(), (), True, id="nothing declared"),
        pytest.param(restarting(), (USERS, "Zeta"), True, id="other features declared"),
        pytest.param(restarting(init=True), (), True, id="an init container's rule"),
        pytest.param(restarting("Restart"), (), False, id="a restart of one container"),
        pytest.param(on_host_network(False), (), True, id="own users on the host's network"),
        pytest.param(on_host_network(False), (RESTART, USERS), False, id="own users, declared"),
        pytest.param(on_host_network(True), (), False, id="the host's users"),
        pytest.param(on_host_network(None), (), False, id="users not said"),
        pytest.param(make_pod("p").spec(hostUsers=False), (), False, id="own users on an own network"),
        pytest.param(BOTH, (RESTART, USERS), False, id="two features, both declared"),
        pytest.param(BOTH, (USERS,), True, id="two features, one declared"),
        pytest.param(BOTH, (USERS, RESTART), True, id="not sorted: what stands behind a greater one is lost"),
        pytest.param(restarting(), ("Alpha", RESTART, RESTART), False, id="declared twice"),
    ],
)
def test_a_node_must_declare_what_the_pod_needs(
    pod: PodBuilder, features: tuple[str, ...], rejected: bool
) -> None:
    found = rejections(make_plugin(NAME), pod, table(declaring(*features)))
    assert bool(found) is rejected
    for status in found.values():
        assert (status.code, status.reasons) == (Code.UNSCHEDULABLE_AND_UNRESOLVABLE, (REASON,))


def test_a_node_that_declares_anew_is_judged_anew() -> None:
    plugin, nodes = make_plugin(NAME), table(declaring(name="a"), declaring(RESTART, name="b"))
    assert rejections(plugin, restarting(), nodes).keys() == {"a"}
    nodes.set_node(declaring(RESTART, name="a").obj())
    nodes.set_node(declaring(name="b").obj())
    assert rejections(plugin, restarting(), nodes).keys() == {"b"}


def test_without_its_gate_it_refuses_nothing() -> None:
    off = Handle(features=Features.default().with_gates(NodeDeclaredFeatures=False))
    plugin = make_plugin(NAME, handle=off)
    assert rejections(plugin, restarting(), table(declaring())) == {}
    assert plugin.events_to_register() == ()


def test_events() -> None:
    registered = make_plugin(NAME).events_to_register()
    assert {(each.event.resource, each.event.action) for each in registered} == {
        (EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_DECLARED_FEATURE),
        (EventResource.POD, ActionType.UPDATE),
    }


@pytest.mark.parametrize(
    ("resource", "old", "new", "queued"),
    [
        pytest.param(EventResource.NODE, None, declaring(), True, id="a new node"),
        pytest.param(EventResource.NODE, declaring(), declaring(RESTART), True, id="a feature more"),
        pytest.param(
            EventResource.NODE, declaring(RESTART), declaring(RESTART), False, id="the same features"
        ),
        pytest.param(EventResource.POD, restarting(), make_pod("p"), True, id="the pod needs less"),
        pytest.param(EventResource.POD, make_pod("p"), restarting(), True, id="the pod needs more"),
        pytest.param(
            EventResource.POD, make_pod("p"), make_pod("p").label("a", "b"), False, id="the same needs"
        ),
        pytest.param(
            EventResource.POD, make_pod("q"), make_pod("q").spec(hostNetwork=True), False, id="another pod"
        ),
    ],
)
def test_hints(resource: EventResource, old: Any, new: Any, queued: bool) -> None:
    registered = make_plugin(NAME).events_to_register()
    hint = next(each.hint for each in registered if each.event.resource is resource)
    assert hint is not None
    answer = hint(restarting().obj(), None if old is None else old.obj(), new.obj())
    assert answer is (QueueingHint.QUEUE if queued else QueueingHint.SKIP)
