"""A plugin of pytest: the fixture ``wharfinger_extender``, for tests of scheduler plugins and of whatever talks to an extender.

::

    def test_full_racks_are_avoided(wharfinger_extender):
        extender = wharfinger_extender("cluster.yaml", plugins=[RackSpace])
        assert extender.filter({"metadata": {"name": "web"}})["NodeNames"] == ["node-a"]

pytest loads this module in every run on a machine where Wharfinger is installed, so nothing is imported before a test asks for it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from scheduler.app.testing import MakeExtender


@pytest.fixture
def wharfinger_extender() -> MakeExtender:
    """Make an extender over manifests: see ``scheduler.app.testing.make_extender``."""
    from scheduler.app.testing import make_extender  # see the module's docstring

    return make_extender
