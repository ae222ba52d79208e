"""The webhook without a cluster: from what a user hands in to the world that it judges over.

Shared by ``wharfinger serve`` and by the fixture of tests (``pytest_plugin``).
"""

from __future__ import annotations

from extender import GivenError, GivenWorld
from scheduler.explain.cluster import Cluster
from scheduler.explain.objects import InputError
from scheduler.explain.profiles import Profiles, Workshop
from scheduler.framework.catalog import Catalog


def given_world(cluster: Cluster, profiles: Profiles, workshop: Workshop) -> GivenWorld:
    """The world of a cluster that was read, judged by all of the profiles.

    Raises:
        InputError: a profile cannot be built, or a quantity cannot be read.
    """
    catalog, objects = Catalog(), cluster.objects
    frameworks = [workshop.framework(profiles, each.scheduler_name, catalog) for each in profiles]
    objects.fill(catalog)
    try:
        return GivenWorld(frameworks, objects.nodes, objects.pods)
    except GivenError as error:
        raise InputError(str(error)) from error
