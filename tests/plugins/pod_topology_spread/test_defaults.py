"""Pods without constraints get the profile's, with the selector of what owns and serves them."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.config.args import PodTopologySpreadArgs, TopologySpreadConstraint
from scheduler.apis.selectors import Selector
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.status import Code
from scheduler.plugins.pod_topology_spread.default_selector import default_selector
from tests.builders import PodBuilder
from tests.plugins.harness import Handle
from tests.plugins.pod_topology_spread.workloads import catalog, service
from tests.plugins.pod_topology_spread.world import (
    HOSTNAME,
    NO_DEFAULTS,
    ZONE,
    cluster,
    fitting,
    hard,
    make_spread,
    soft,
    spread,
    web,
)

ZONES = {"a1": "a", "b1": "b"}
SYSTEM = PodTopologySpreadArgs()


def listed(*constraints: tuple[str, str]) -> PodTopologySpreadArgs:
    """Default constraints of (topology key, action), all with a skew of 1."""
    made = (TopologySpreadConstraint(1, key, action) for key, action in constraints)
    return PodTopologySpreadArgs(tuple(made), "List")


HARD_ZONE = listed((ZONE, "DoNotSchedule"))


def owned(kind: str, name: str = "owner", api_version: str = "apps/v1", **fields: Any) -> PodBuilder:
    """A web pod with an owner."""
    owner = {"kind": kind, "name": name, "apiVersion": api_version, "controller": True, **fields}
    return web("incoming").label("tier", "x").metadata(ownerReferences=[owner])


def selected(pod: PodBuilder, objects: Catalog) -> str:
    found: Selector = default_selector(pod.obj(), objects)
    return "everything" if found.empty else ",".join(sorted(str(found).split(",")))


SET = {"matchLabels": {"app": "web"}, "matchExpressions": [{"key": "tier", "operator": "Exists"}]}


@pytest.mark.parametrize(
    ("pod", "objects", "expected"),
    [
        pytest.param(web(), [], "everything", id="nobody selects it"),
        pytest.param(web(), [("Service", "s", {"app": "web"})], "app=web", id="a service"),
        pytest.param(web(), [("Service", "s", {"app": "db"})], "everything", id="another service"),
        pytest.param(web(), [("Service", "s", {"app": "web", "b": "c"})], "everything", id="half a match"),
        pytest.param(web(), [("Service", "s", {})], "everything", id="a service that wants no label"),
        pytest.param(web(), [("Service", "s", None)], "everything", id="a service without selector"),
        pytest.param(
            web().label("tier", "x"),
            [("Service", "s", {"app": "web"}), ("Service", "t", {"tier": "x"})],
            "app=web,tier=x",
            id="two services add up",
        ),
        pytest.param(owned("ReplicaSet"), [("ReplicaSet", "owner", SET)], "app=web,tier", id="a replica set"),
        pytest.param(
            owned("StatefulSet"), [("StatefulSet", "owner", SET)], "app=web,tier", id="a stateful set"
        ),
        pytest.param(
            owned("ReplicationController", api_version="v1"),
            [("ReplicationController", "owner", {"app": "web"}), ("Service", "s", {"tier": "x"})],
            "app=web,tier=x",
            id="a replication controller and a service",
        ),
        pytest.param(
            owned("ReplicationController", api_version="v1"),
            [("ReplicationController", "owner", {"app": "new"}), ("Service", "s", {"app": "web"})],
            "app=new",
            id="the controller's value wins",
        ),
        pytest.param(
            owned("ReplicaSet"),
            [("ReplicaSet", "owner", SET), ("Service", "s", {"tier": "x"})],
            "app=web,tier,tier=x",
            id="a replica set and a service",
        ),
        pytest.param(owned("ReplicaSet"), [], "everything", id="the owner is gone"),
        pytest.param(
            owned("ReplicaSet"), [("ReplicaSet", "owner", None)], "everything", id="it selects nothing"
        ),
        pytest.param(
            owned("ReplicaSet"),
            [("ReplicaSet", "owner", {"matchExpressions": [{"key": "a", "operator": "Near"}]})],
            "everything",
            id="its selector is unreadable",
        ),
        pytest.param(owned("ReplicaSet"), [("StatefulSet", "owner", SET)], "everything", id="another kind"),
        pytest.param(
            owned("ReplicaSet", api_version="extensions/v1beta1"),
            [("ReplicaSet", "owner", SET)],
            "everything",
            id="another group",
        ),
        pytest.param(
            owned("ReplicaSet", controller=False),
            [("ReplicaSet", "owner", SET)],
            "everything",
            id="no controller",
        ),
        pytest.param(
            owned("Job", api_version="batch/v1"), [], "everything", id="a kind that is not looked at"
        ),
    ],
)
def test_default_selector(pod: PodBuilder, objects: list[tuple[str, str, Any]], expected: str) -> None:
    assert selected(pod, catalog(*objects)) == expected


def test_services_of_other_namespaces_do_not_select() -> None:
    assert selected(web(), service("s", "elsewhere", app="web")) == "everything"


def test_the_selector_follows_the_catalog() -> None:
    objects = service("s", app="web")
    assert selected(web(), objects) == "app=web"
    objects.services.remove(objects.services.all()[0])
    assert selected(web(), objects) == "everything"


@pytest.mark.parametrize(
    ("args", "pod", "objects", "expected"),
    [
        pytest.param(HARD_ZONE, web(), service("s", app="web"), "b1", id="with a service"),
        pytest.param(HARD_ZONE, web(), Catalog(), "a1 b1", id="without one"),
        pytest.param(
            HARD_ZONE, spread(hard(HOSTNAME, 9)), service("s", app="web"), "a1 b1", id="own constraints"
        ),
        pytest.param(
            HARD_ZONE, spread(soft()), service("s", app="web"), "a1 b1", id="own soft constraints too"
        ),
        pytest.param(SYSTEM, web(), service("s", app="web"), "a1 b1", id="the built-in ones are soft"),
        pytest.param(NO_DEFAULTS, web(), service("s", app="web"), "a1 b1", id="an empty list"),
    ],
)
def test_hard_defaults(args: PodTopologySpreadArgs, pod: PodBuilder, objects: Catalog, expected: str) -> None:
    nodes = cluster(ZONES, {"a1": 1})
    assert fitting(pod, nodes, make_spread(args, Handle(catalog=objects))) == expected


@pytest.mark.parametrize(
    ("args", "objects", "scored"),
    [
        pytest.param(SYSTEM, service("s", app="web"), True, id="built in"),
        pytest.param(SYSTEM, Catalog(), False, id="nobody selects the pod"),
        pytest.param(HARD_ZONE, service("s", app="web"), False, id="hard ones only"),
        pytest.param(listed((ZONE, "ScheduleAnyway")), service("s", app="web"), True, id="listed"),
        pytest.param(NO_DEFAULTS, service("s", app="web"), False, id="an empty list"),
    ],
)
def test_soft_defaults(args: PodTopologySpreadArgs, objects: Catalog, scored: bool) -> None:
    plugin = make_spread(args, Handle(catalog=objects))
    answer = plugin.pre_score(Cycle(web().info()), cluster(ZONES, {}))
    assert (answer is None) is scored
    assert scored or answer.code is Code.SKIP


def test_listed_defaults_ignore_nodes_that_lack_a_key() -> None:
    args = listed((ZONE, "ScheduleAnyway"), ("rack", "ScheduleAnyway"))
    plugin, cycle = make_spread(args, Handle(catalog=service("s", app="web"))), Cycle(web().info())
    nodes = cluster(ZONES, {"a1": 1})
    assert plugin.pre_score(cycle, nodes) is None
    raw = plugin.score(cycle, nodes)
    assert plugin.normalize(cycle, raw).tolist() == [0, 0]
