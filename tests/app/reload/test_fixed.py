"""What a reload leaves as it was, and how it is named."""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from scheduler.apis import config as configuration
from scheduler.app.reload.fixed import keep_fixed
from scheduler.features import Features

OLD = configuration.default(Features.default())
ELECTION, CONNECTION = OLD.leader_election, OLD.client_connection


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"enable_profiling": False}, ("enableProfiling",)),
        ({"enable_contention_profiling": False}, ("enableContentionProfiling",)),
        ({"delay_cache_until_active": True}, ("delayCacheUntilActive",)),
        (
            {"leader_election": dataclasses.replace(ELECTION, leader_elect=False, resource_name="mine")},
            ("leaderElection.leaderElect", "leaderElection.resourceName"),
        ),
        (
            {"client_connection": dataclasses.replace(CONNECTION, qps=1.0, kubeconfig="/x")},
            ("clientConnection.kubeconfig", "clientConnection.qps"),
        ),
    ],
    ids="+".join,
)
def test_fixed_fields_stay_and_are_named(fields: dict[str, Any], named: tuple[str, ...]) -> None:
    assert keep_fixed(OLD, dataclasses.replace(OLD, **fields)) == (OLD, named)


def test_everything_else_changes() -> None:
    new = dataclasses.replace(
        OLD, pod_max_backoff_seconds=3, percentage_of_nodes_to_score=50, parallelism=4, profiles=()
    )
    assert keep_fixed(OLD, new) == (new, ())


def test_every_field_is_one_or_the_other() -> None:
    """A field that is new in the configuration has to be thought of here."""
    assert {field.name for field in dataclasses.fields(OLD)} == {
        *("leader_election", "client_connection", "enable_profiling", "enable_contention_profiling"),
        *("delay_cache_until_active", "parallelism", "percentage_of_nodes_to_score", "profiles", "extenders"),
        *("pod_initial_backoff_seconds", "pod_max_backoff_seconds"),
    }
