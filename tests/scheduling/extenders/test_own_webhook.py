"""A scheduler that asks another one's webhook, in both forms: objects travel whole from the API server to the judge and back."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from prometheus_client import CollectorRegistry

from extender import Settings, create_blueprint
from scheduler.sandbox import Sandbox
from scheduler.serving.access import Access
from scheduler.serving.app import Parts, create_app
from scheduler.serving.authorization import OpenPaths
from scheduler.serving.http import Server
from tests.builders import make_node, make_pod
from tests.extender.builders import Binder
from tests.scheduling.harness import Observer, Running, objects

GOOD_NODES_ONLY = {
    "schedulerName": "judge",
    "pluginConfig": [
        {
            "name": "NodeAffinity",
            "args": {
                "addedAffinity": {
                    "requiredDuringSchedulingIgnoredDuringExecution": {
                        "nodeSelectorTerms": [{"matchExpressions": [{"key": "good", "operator": "Exists"}]}]
                    }
                }
            },
        }
    ],
}


@pytest.fixture
def judge(scheduler: Callable[..., Running]) -> Iterator[Server]:
    """A scheduler of other pods, whose webhook is open."""
    running = scheduler(config={"profiles": [GOOD_NODES_ONLY]})
    open_to_all = Access(OpenPaths.parse(("/*",)))
    routes = create_blueprint(running.setup.scheduler, Binder(), Settings())
    registry = CollectorRegistry()
    server = Server(create_app(Parts(access=open_to_all, registry=registry, blueprints=(routes,))))
    server.start()
    running.wait_ready()
    yield server
    server.stop(grace=1)


@pytest.mark.parametrize("by_name", [True, False], ids=["names", "nodes in full"])
def test_the_judge_decides(
    sandbox: Sandbox, scheduler: Callable[..., Running], observer: Observer, judge: Server, by_name: bool
) -> None:
    good = make_node("good").capacity(cpu="4").label("good", "")
    sandbox.load(objects(make_node("bad").capacity(cpu="4"), good))
    entry = {
        "urlPrefix": f"http://127.0.0.1:{judge.port}",
        "filterVerb": "filter",
        "prioritizeVerb": "prioritize",
        "weight": 1,
        "nodeCacheCapable": by_name,
    }
    scheduler(config={"extenders": [entry]})
    sandbox.load(objects(make_pod("p").container({"cpu": "1"}, name="c", image="pause")))
    observer.wait_bound("p")
    assert observer.node_of("p") == "good"
