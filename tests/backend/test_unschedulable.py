"""Pods set aside are grouped by what decides whether an event may interest them."""

from __future__ import annotations

from scheduler.backend.queued import QueuedPodInfo
from scheduler.backend.unschedulable import Group, UnschedulablePods
from tests.backend.harness import PROFILE, pod


def queued(name: str, *plugins: str, gate: str = "") -> QueuedPodInfo:
    return QueuedPodInfo(pod(name).info(), 0.0, unschedulable_plugins=set(plugins), gating_plugin=gate)


def test_equals_share_a_group() -> None:
    pods = UnschedulablePods()
    one, two, gated = queued("one", "Fit"), queued("two", "Fit"), queued("gated", "Gate", gate="Gate")
    assert [pods.put(one), pods.put(two), pods.put(gated)] == [True, True, True]
    fit = Group(PROFILE, frozenset({"Fit"}), "")
    assert set(pods.groups()) == {fit, Group(PROFILE, frozenset({"Gate"}), "Gate")}
    assert pods.members(fit) == [one, two]
    assert (len(pods), pods.gated) == (3, 1)


def test_a_pod_changes_groups_when_its_rejectors_change() -> None:
    pods = UnschedulablePods()
    one = queued("one", "Fit")
    pods.put(one)
    one.unschedulable_plugins.add("Gate")
    one.gating_plugin = "Gate"
    assert not pods.put(one)
    assert pods.groups() == [Group(PROFILE, frozenset({"Fit", "Gate"}), "Gate")]
    assert (len(pods), pods.gated) == (1, 1)


def test_empty_groups_are_forgotten() -> None:
    pods = UnschedulablePods()
    one = queued("one", "Fit")
    pods.put(one)
    one.unschedulable_plugins.clear()
    assert pods.remove("default/one") is one
    assert pods.remove("default/one") is None
    assert (pods.groups(), list(pods)) == ([], [])
