"""Queueing hints of InterPodAffinity: which changes bring back a pod that it refused."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.framework.events import ActionType, EventResource, QueueingHint
from tests.builders import NodeBuilder, PodBuilder, make_node
from tests.plugins.inter_pod_affinity.world import INVALID, ZONE, app, plugin, pod, term, where

QUEUE, SKIP = QueueingHint.QUEUE, QueueingHint.SKIP
WEB, DB = app("web"), app("db")
TEAM = {"matchLabels": {"team": "red"}}
NAMESPACES = {"red": {"team": "red"}, "blue": {}}

Change = tuple[PodBuilder | NodeBuilder | None, PodBuilder | NodeBuilder | None]


def test_events() -> None:
    registered = {(each.event.resource, each.event.action) for each in plugin().events_to_register()}
    assert registered == {
        (EventResource.POD, ActionType.ADD | ActionType.UPDATE_POD_LABEL | ActionType.DELETE),
        (EventResource.NODE, ActionType.ADD | ActionType.UPDATE_NODE_LABEL),
    }


def hint(resource: EventResource, refused: PodBuilder, change: Change) -> QueueingHint:
    """What the hint for that kind of object says."""
    made: Any = plugin(NAMESPACES)
    event = next(each for each in made.events_to_register() if each.event.resource is resource)
    old, new = (None if side is None else side.obj() for side in change)
    answer: QueueingHint = event.hint(refused.obj(), old, new)
    return answer


def running(*labels: str, **how: Any) -> PodBuilder:
    """Another pod, on a node."""
    return pod("other", *labels, **how).node("n")


def came(*labels: str, **how: Any) -> Change:
    """It was placed."""
    return None, running(*labels, **how)


def went(*labels: str, **how: Any) -> Change:
    """It was deleted."""
    return running(*labels, **how), None


def turned(before: str, after: str) -> Change:
    """It got other labels."""
    return running(before), running(after)


@pytest.mark.parametrize(
    ("terms", "change", "expected"),
    [
        pytest.param([term(WEB)], came("app=web"), QUEUE, id="company came"),
        pytest.param([term(WEB)], came("app=db"), SKIP, id="somebody else came"),
        pytest.param([term(WEB), term(where("tier", "Exists"))], came("app=web"), SKIP, id="one term of two"),
        pytest.param(
            [term(WEB), term(where("tier", "Exists"))], came("app=web", "tier=1"), QUEUE, id="both terms"
        ),
        pytest.param([term(WEB)], turned("app=db", "app=web"), QUEUE, id="it became company"),
        pytest.param([term(WEB)], turned("app=web", "app=web"), SKIP, id="it was company already"),
        pytest.param([term(WEB)], turned("app=web", "app=db"), SKIP, id="it is company no longer"),
        pytest.param([term(WEB)], went("app=web"), SKIP, id="company went"),
        pytest.param([term(WEB)], (None, pod("other", "app=web")), SKIP, id="company on no node"),
        pytest.param(
            [term(WEB)], (None, pod("other", "app=web").nominated("n")), QUEUE, id="nominated company"
        ),
        pytest.param([term(INVALID)], came("app=db"), QUEUE, id="terms that cannot be read"),
        pytest.param(
            [term(WEB, namespaceSelector=TEAM)],
            came("app=web", namespace="red"),
            QUEUE,
            id="in a selected namespace",
        ),
        pytest.param(
            [term(WEB, namespaceSelector=TEAM)],
            came("app=web", namespace="blue"),
            SKIP,
            id="in a namespace that is not selected",
        ),
    ],
)
def test_a_pod_that_misses_company(terms: list[Any], change: Change, expected: QueueingHint) -> None:
    assert hint(EventResource.POD, pod("me", near=terms), change) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(went("app=web"), QUEUE, id="its group may begin anew elsewhere"),
        pytest.param(turned("app=web", "app=db"), QUEUE, id="one left the group"),
        pytest.param(went("app=db"), SKIP, id="a stranger went"),
    ],
)
def test_a_pod_of_the_group_that_it_seeks(change: Change, expected: QueueingHint) -> None:
    assert hint(EventResource.POD, pod("me", "app=web", near=[term(WEB)]), change) is expected


@pytest.mark.parametrize(
    ("terms", "change", "expected"),
    [
        pytest.param([term(WEB)], went("app=web"), QUEUE, id="it went"),
        pytest.param([term(WEB)], went("app=db"), SKIP, id="another went"),
        pytest.param([term(WEB), term(DB)], went("app=db"), QUEUE, id="one of two kinds went"),
        pytest.param([term(WEB)], turned("app=web", "app=db"), QUEUE, id="it became harmless"),
        pytest.param([term(WEB), term(DB)], turned("app=web", "app=db"), QUEUE, id="of another kind now"),
        pytest.param([term(WEB)], turned("app=web", "app=web"), SKIP, id="it is as before"),
        pytest.param([term(WEB)], turned("app=db", "app=web"), SKIP, id="one more"),
        pytest.param([term(WEB)], came("app=db"), SKIP, id="a harmless one came"),
        pytest.param([term(WEB)], (pod("other", "app=web"), None), SKIP, id="it was on no node"),
        pytest.param(
            [term(WEB, namespaceSelector=TEAM)], went("app=web", namespace="red"), QUEUE, id="selected"
        ),
        pytest.param(
            [term(WEB, namespaceSelector=where("team", "DoesNotExist"))],
            went("app=web", namespace="red"),
            SKIP,
            id="excluded",
        ),
    ],
)
def test_a_pod_that_stays_away_from_others(terms: list[Any], change: Change, expected: QueueingHint) -> None:
    assert hint(EventResource.POD, pod("me", apart=terms), change) is expected


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param(went(apart=[term(WEB)]), QUEUE, id="it avoided the pod"),
        pytest.param(went(apart=[term(DB), term(WEB)]), QUEUE, id="by one of its terms"),
        pytest.param(went(apart=[term(DB)]), SKIP, id="it avoided others"),
        pytest.param(went(apart=[term(INVALID)]), QUEUE, id="nobody can say"),
        pytest.param(went(apart=[term(WEB, namespaceSelector={})]), QUEUE, id="it avoided all namespaces"),
        pytest.param(went(apart=[term(WEB, namespaceSelector=TEAM)]), SKIP, id="it avoided a namespace"),
        pytest.param(came(apart=[term(WEB)]), SKIP, id="it came"),
    ],
)
def test_a_pod_that_others_avoid(change: Change, expected: QueueingHint) -> None:
    assert hint(EventResource.POD, pod("me", "app=web"), change) is expected


def test_the_pods_own_labels() -> None:
    before, after = pod("me", "app=web"), pod("me", "app=db")
    assert hint(EventResource.POD, after, (before, after)) is QUEUE


def node(**labels: str) -> NodeBuilder:
    """A node with these labels."""
    return make_node().labels(labels)


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param((None, node(zone="a")), QUEUE, id="new, in a zone"),
        pytest.param((None, node(rack="r")), SKIP, id="new, in no zone"),
        pytest.param((node(), node(zone="a")), QUEUE, id="it entered a zone"),
        pytest.param((node(zone="a"), node(zone="b")), QUEUE, id="it changed zones"),
        pytest.param((node(zone="a"), node(zone="a", rack="r")), SKIP, id="it entered a rack"),
    ],
)
def test_nodes_for_a_pod_that_misses_company(change: Change, expected: QueueingHint) -> None:
    assert hint(EventResource.NODE, pod("me", near=[term(WEB)]), change) is expected


@pytest.mark.parametrize(
    "refused",
    [
        pytest.param(pod("me", apart=[term(WEB, ZONE)]), id="it stays away from others"),
        pytest.param(pod("me", "app=web"), id="others avoid it"),
    ],
)
@pytest.mark.parametrize(
    ("change", "expected"),
    [
        pytest.param((None, node(zone="a")), QUEUE, id="new"),
        pytest.param((None, node()), QUEUE, id="new, in no zone"),
        pytest.param((node(zone="a"), node()), QUEUE, id="it left its zone"),
        pytest.param((node(zone="a"), node(zone="b")), QUEUE, id="it changed zones"),
        pytest.param((node(), node(zone="a")), SKIP, id="it entered a zone"),
        pytest.param((node(zone="a"), node(zone="a", rack="r")), SKIP, id="it entered a rack"),
    ],
)
def test_nodes_for_a_pod_that_may_not_be_near_somebody(
    refused: PodBuilder, change: Change, expected: QueueingHint
) -> None:
    assert hint(EventResource.NODE, refused, change) is expected


def test_a_new_node_in_no_zone_for_a_pod_that_requires_both_as_upstream() -> None:
    assert hint(EventResource.NODE, pod("me", near=[term(WEB)], apart=[term(DB)]), (None, node())) is QUEUE


def test_a_new_node_for_a_pod_that_cannot_be_read() -> None:
    assert hint(EventResource.NODE, pod("me", near=[term(INVALID)]), (None, node())) is QUEUE
