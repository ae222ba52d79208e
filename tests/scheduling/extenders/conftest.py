"""Extenders and schedulers on desks that end with the test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import trustme

from tests.scheduling.desk import Desk
from tests.scheduling.extenders.servers import ExtenderServer, Nobody


@pytest.fixture
def extender() -> Iterator[ExtenderServer]:
    server = ExtenderServer()
    yield server
    server.close()


@pytest.fixture
def nobody() -> Iterator[Nobody]:
    made = Nobody()
    yield made
    made.close()


@pytest.fixture(scope="session")
def authority() -> trustme.CA:
    """A certificate authority for the tests of one run."""
    return trustme.CA()


@pytest.fixture
def extended() -> Iterator[Callable[..., Desk]]:
    """Makes schedulers with extenders: ``extended({"urlPrefix": …}, …)``."""
    made: list[Desk] = []

    def make(*extenders: dict[str, Any]) -> Desk:
        made.append(Desk(extenders=extenders))
        return made[-1]

    yield make
    for one in made:
        one.close()
