"""The fixture that ships with the package: a test of a plugin, or of a client, in three lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from scheduler.app.testing import MakeExtender
from scheduler.explain.objects import InputError
from scheduler.framework.cycle import Cycle
from scheduler.framework.node_info import NodeInfo
from scheduler.framework.status import Status
from tests.builders import make_node, make_pod

POD = make_pod("p").req(cpu="2").doc()
NODES = [make_node(name).capacity(cpu=cpu).doc() for name, cpu in (("large", "4"), ("small", "1"))]


class Quiet:
    """A plugin as a user writes it."""

    name = "Quiet"

    def filter_node(self, cycle: Cycle, node: NodeInfo) -> Status | None:
        return Status.unschedulable("quiet") if node.name == "large" else None

    def score_node(self, cycle: Cycle, node: NodeInfo) -> int:
        return 50


def test_kube_schedulers_plugins_judge_by_default(wharfinger_extender: MakeExtender) -> None:
    extender = wharfinger_extender(*NODES)
    assert extender.filter(POD)["NodeNames"] == ["large"]
    assert set(extender.prioritize(POD, ["large"])) == {"large"}


@pytest.mark.parametrize("plugin", [Quiet, f"{__name__}:Quiet"])
def test_a_plugin_alone(wharfinger_extender: MakeExtender, plugin: Any) -> None:
    extender = wharfinger_extender(*NODES, plugins=[plugin])
    assert extender.filter(POD)["NodeNames"] == ["small"]
    assert extender.filter(POD)["FailedNodes"] == {"large": "quiet"}
    assert extender.prioritize(POD) == {"large": 5, "small": 5}


def test_files_configurations_and_victims(wharfinger_extender: MakeExtender, tmp_path: Path) -> None:
    low = make_pod("low").req(cpu="4").node("large").metadata(uid="low").doc()
    file = tmp_path / "cluster.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": [*NODES, low]}))
    config = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "mine"}],
    }
    extender = wharfinger_extender(file, config=config)
    assert extender.filter(POD, profile="mine")["NodeNames"] == []
    high = make_pod("high").req(cpu="2").priority(9).doc()
    assert extender.preempt(high, {"large": []}) == {"large": ["low"]}


def test_named_plugins_of_kube_scheduler(wharfinger_extender: MakeExtender) -> None:
    extender = wharfinger_extender(*NODES, plugins=["NodeUnschedulable", Quiet])
    assert extender.filter(POD)["NodeNames"] == ["small"]


def test_a_refused_request_fails_the_test(wharfinger_extender: MakeExtender) -> None:
    with pytest.raises(
        AssertionError, match=r"POST /profiles/nobody/filter: status 404: .*there is no profile 'nobody'"
    ):
        wharfinger_extender(*NODES).filter(POD, profile="nobody")


def test_what_cannot_be_used_is_named(wharfinger_extender: MakeExtender) -> None:
    with pytest.raises(InputError, match="object 2: kind: Required value"):
        wharfinger_extender(NODES[0], {"metadata": {"name": "x"}})
