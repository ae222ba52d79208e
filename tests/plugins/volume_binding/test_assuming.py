"""What is decided about volumes and claims counts before the API server knows, and until it knows better."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from scheduler.framework.catalog import Catalog
from scheduler.framework.status import SKIP, Code
from scheduler.plugins.volume_binding.assume_cache import AssumeCache, OutOfSyncError
from tests.plugins.volume_binding.world import (
    BIND_CONFLICT,
    BOUND,
    SELECTED_NODE,
    cluster,
    disk,
    held,
    sort_of,
    wish,
    world,
)
from tests.plugins.volumes import of_claim, pod_with

LOCAL = sort_of("local")
FIRST, SECOND = pod_with(of_claim("c"), name="first"), pod_with(of_claim("d"), name="second")


def changed(obj: Any, version: str, **annotations: str) -> Any:
    """The object in another version."""
    metadata = msgspec.structs.replace(obj.metadata, resource_version=version, annotations=annotations)
    return msgspec.structs.replace(obj, metadata=metadata)


def test_a_volume_that_was_promised_is_not_promised_again() -> None:
    made = world(cluster("a"), wish("c"), wish("d"), LOCAL, disk("pv"))
    cycle = made.reserved(FIRST, "n0")
    assert made.verdicts(SECOND) == {"n0": (BIND_CONFLICT,)}
    made.plugin.unreserve(cycle, "n0")
    assert made.verdicts(SECOND) == {}


def test_the_pod_itself_finds_its_volume_set_aside() -> None:
    made = world(cluster("a"), wish("c"), LOCAL, disk("pv"), disk("small", "6Gi"))
    made.reserved(FIRST, "n0")
    assert made.choice(FIRST, "n0") == {"c": "small"}


def test_a_claim_that_got_a_node_stays_there_until_it_is_taken_back() -> None:
    made = world(cluster("a", "b"), wish("c", of_class="made"), sort_of("made", "csi.example"))
    cycle = made.reserved(FIRST, "n1")
    assert made.verdicts(pod_with(of_claim("c"), name="other")) == {"n0": (BIND_CONFLICT,)}
    made.plugin.unreserve(cycle, "n1")
    assert made.verdicts(FIRST) == {}


def test_a_newer_version_ends_what_was_assumed() -> None:
    made = world(cluster("a", "b"), wish("c", of_class="made"), sort_of("made", "csi.example"))
    made.reserved(FIRST, "n1")
    made.catalog.persistent_volume_claims.put(changed(wish("c", of_class="made"), "2"))
    assert made.verdicts(FIRST) == {}


def test_a_version_that_is_seen_again_does_not() -> None:
    made = world(cluster("a", "b"), wish("c", of_class="made"), sort_of("made", "csi.example"))
    made.reserved(FIRST, "n1")
    made.catalog.persistent_volume_claims.put(wish("c", of_class="made"))
    assert made.verdicts(FIRST) == {"n0": (BIND_CONFLICT,)}


def test_nothing_is_left_to_do_when_all_claims_are_bound() -> None:
    made = world(cluster("a"), held("c", "pv"), disk("pv", phase="Bound"))
    cycle = made.reserved(FIRST, "n0")
    assert made.plugin.pre_bind_pre_flight(cycle, "n0") == SKIP
    assert made.plugin.pre_bind(cycle, "n0") is None


def test_there_is_work_when_a_claim_is_not() -> None:
    made = world(cluster("a"), wish("c"), LOCAL, disk("pv"))
    assert made.plugin.pre_bind_pre_flight(made.reserved(FIRST, "n0"), "n0") is None


def test_a_node_that_was_not_judged_has_nothing_to_bind() -> None:
    made = world(cluster("a"), wish("c"), LOCAL, disk("pv"))
    cycle, _ = made.start(FIRST)
    status = made.plugin.pre_bind_pre_flight(cycle, "n0")
    assert status is not None
    assert (status.code, status.reasons) == (Code.ERROR, ('no pod volume found for node "n0"',))
    assert made.plugin.reserve(cycle, "n0") is None
    assert made.plugin.pre_bind_pre_flight(cycle, "n0") == SKIP


def test_when_one_object_is_out_of_sync_none_stays_assumed() -> None:
    made = world(
        cluster("a"),
        wish("c"),
        wish("e", of_class="made"),
        LOCAL,
        sort_of("made", "csi.example"),
        disk("pv"),
    )
    cycle, _ = made.start(pod_with(of_claim("c"), of_claim("e")))
    made.plugin.filter(cycle, made.nodes)
    made.catalog.persistent_volume_claims.put(changed(wish("e", of_class="made"), "2"))
    status = made.plugin.reserve(cycle, "n0")
    assert status is not None
    assert (status.code, status.reasons) == (
        Code.ERROR,
        ('"default/e" is out of sync (stored: 2, assume: 1)',),
    )
    assert made.choice(FIRST, "n0") == {"c": "pv"}


class TestCache:
    """The cache alone."""

    @pytest.fixture
    def catalog(self) -> Catalog:
        return world(cluster(), wish("c")).catalog

    @pytest.fixture
    def cache(self, catalog: Catalog) -> AssumeCache[Any]:
        return AssumeCache(catalog.persistent_volume_claims, "persistentvolumeclaims")

    def test_an_assumed_object_is_seen_and_the_stored_one_kept(self, cache: AssumeCache[Any]) -> None:
        assumed = changed(wish("c"), "1", **{SELECTED_NODE: "n0"})
        cache.assume(assumed)
        assert cache.get("c", "default") is assumed
        assert cache.overlaid([wish("c")]) == [assumed]
        assert cache.stored("c", "default") == wish("c")

    def test_an_object_that_is_gone_cannot_be_assumed(self, cache: AssumeCache[Any]) -> None:
        with pytest.raises(OutOfSyncError, match='persistentvolumeclaims "default/x" not found'):
            cache.assume(wish("x"))

    def test_what_is_gone_is_gone_although_assumed(self, cache: AssumeCache[Any], catalog: Catalog) -> None:
        cache.assume(wish("c", annotations=BOUND))
        catalog.persistent_volume_claims.remove(wish("c"))
        assert cache.get("c", "default") is None

    def test_only_the_version_that_was_assumed_is_restored(self, cache: AssumeCache[Any]) -> None:
        assumed = wish("c", annotations=BOUND)
        cache.assume(assumed)
        cache.restore(changed(wish("c"), "2"))
        assert cache.get("c", "default") is assumed
        cache.restore(wish("c"))
        assert cache.get("c", "default") == wish("c")

    def test_what_is_over_is_forgotten_when_something_new_is_assumed(
        self, cache: AssumeCache[Any], catalog: Catalog
    ) -> None:
        catalog.persistent_volume_claims.put(wish("d"))
        cache.assume(wish("c", annotations=BOUND))
        catalog.persistent_volume_claims.put(changed(wish("c"), "2"))
        cache.assume(wish("d", annotations=BOUND))
        assert list(cache._assumed) == [("default", "d")]
