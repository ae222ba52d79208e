"""Scenarios: a cluster, a pending pod and a configuration in one JSON document, answered one by one.

The schema is that of the recordings of kube-scheduler's answers::

    {"name": …, "config": {KubeSchedulerConfiguration}?, "objects": [{…}, …], "pod": {…}}

Objects count as an API server stores them: nothing is defaulted but ``spec.schedulerName`` and a missing ``metadata.uid``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from scheduler.apis.objects import Pod
from scheduler.explain.answers import Answer, answer
from scheduler.explain.objects import InputError, Placed, identified, read_kind, read_objects
from scheduler.explain.profiles import Workshop
from scheduler.explain.world import World, build_world


def answer_scenario(scenario: Any, workshop: Workshop) -> Answer:
    """The answer, with the scenario's name; ``error`` when it cannot be run."""
    name = scenario.get("name") if isinstance(scenario, Mapping) else None
    named: Answer = {"name": name} if isinstance(name, str) else {}
    try:
        world = build_scenario(scenario, workshop)
    except InputError as error:
        return {**named, "error": str(error)}
    return {**named, **answer(world)}


def build_scenario(scenario: Any, workshop: Workshop) -> World:
    """The world of a scenario.

    Raises:
        InputError: it cannot be run: no scenario, a bad object, an invalid configuration, or a profile that does not exist.
    """
    if not isinstance(scenario, Mapping):
        raise InputError(f"scenario: expected an object, found {type(scenario).__name__}")
    documents = scenario.get("objects") or []
    if not isinstance(documents, list):
        raise InputError(f"objects: expected a list, found {type(documents).__name__}")
    if not isinstance(scenario.get("pod"), Mapping):
        raise InputError("pod: Required value")
    pod = identified(read_kind(Pod, Placed(scenario["pod"], "pod")))
    objects = read_objects(Placed(each, f"objects[{index}]") for index, each in enumerate(documents))
    profiles = workshop.profiles(scenario.get("config"), "config")
    return build_world(objects, pod, profiles, workshop)
