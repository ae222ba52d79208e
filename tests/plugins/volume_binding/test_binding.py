"""PreBind against a server: written with the version, then waited for; a test stands in for the volume controller and the watches."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest

from scheduler.apis.objects import PersistentVolume, PersistentVolumeClaim, decode
from scheduler.client.access import load_access
from scheduler.client.actions import Actions
from scheduler.client.resources import PERSISTENT_VOLUME_CLAIMS, PERSISTENT_VOLUMES
from scheduler.client.rest import MERGE_PATCH, Rest
from scheduler.framework.catalog import Catalog
from scheduler.framework.cycle import Cycle
from scheduler.framework.live import Live
from scheduler.framework.status import Status
from scheduler.sandbox import Sandbox
from tests.plugins.volume_binding.world import (
    BIND_CONFLICT,
    BOUND,
    HOST,
    SELECTED_NODE,
    World,
    cluster,
    sort_of,
    within,
)
from tests.plugins.volumes import Document, of_claim, pod_with

POD = pod_with(of_claim("c"))
CLAIM = PERSISTENT_VOLUME_CLAIMS.object("default", "c")
VOLUME = PERSISTENT_VOLUMES.object("", "pv")
BY_US = "pv.kubernetes.io/bound-by-controller"


class Storage:
    """The server, the plugin, and what happens at each second of its wait."""

    def __init__(self, rest: Rest) -> None:
        self._rest = rest
        self.time = 0.0
        self.seconds: list[Callable[[], object]] = []
        self.gone: set[str] = set()
        self.nodes = cluster("a", "b")
        self.catalog = Catalog()
        self.live = Live(self._pod, self._node, now=lambda: self.time, wait=self._wait)
        self.world = World(
            self.catalog, self.nodes, timeout=30, live=self.live, port=Actions(rest, wait=self._wait)
        )

    def _pod(self, namespace: str, name: str) -> Any:
        return None if name in self.gone else POD.obj()

    def _node(self, name: str) -> Any:
        row = self.nodes.row_of(name)
        return None if name in self.gone or row is None else self.nodes.objects[row]

    def _wait(self, seconds: float) -> bool:
        self.time += seconds
        if self.seconds:
            self.seconds.pop(0)()
        return False

    def create(self, *documents: Document) -> None:
        """Create claims and volumes on the server; the watches bring them."""
        for document in documents:
            kind = PERSISTENT_VOLUMES if document["kind"] == "PersistentVolume" else PERSISTENT_VOLUME_CLAIMS
            self._rest.request("POST", kind.collection("default"), body=document)
        self.watch()

    def get(self, path: str) -> Document:
        return msgspec.json.decode(self._rest.request("GET", path).body, type=dict[str, Any])

    def patch(self, path: str, **fields: Any) -> None:
        """Change an object as the volume controller would."""
        self._rest.request("PATCH", path, body=fields, content_type=MERGE_PATCH)

    def watch(self) -> None:
        """The watches bring what the server has."""
        for kind, resource in (
            (PersistentVolume, PERSISTENT_VOLUMES),
            (PersistentVolumeClaim, PERSISTENT_VOLUME_CLAIMS),
        ):
            items = msgspec.json.decode(self._rest.request("GET", resource.collection()).body)["items"]
            for item in items:
                self.catalog.of(kind).put(decode(kind, msgspec.json.encode(item)))

    def bind(self, node: str = "n0") -> tuple[Cycle, Status | None]:
        cycle = self.world.reserved(POD, node)
        return cycle, self.world.plugin.pre_bind(cycle, node)

    def failure(self) -> str:
        _, status = self.bind()
        assert status is not None
        return status.message


@pytest.fixture
def storage(tmp_path: Path) -> Iterator[Storage]:
    with Sandbox() as sandbox:
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        access = load_access(str(tmp_path / "kubeconfig"))
        rest = Rest(access, user_agent="tests", qps=-1)
        yield Storage(rest)
        rest.close()
        access.close()


def volume(**spec: Any) -> Document:
    common = {"capacity": {"storage": "10Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "local"}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolume",
        "metadata": {"name": "pv"},
        "spec": {**common, "local": {"path": "/d"}, "nodeAffinity": within(HOST, "n0", "n1"), **spec},
    }


def claim(of_class: str) -> Document:
    wanted = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "5Gi"}}}
    return {
        "apiVersion": "v1",
        "kind": "PersistentVolumeClaim",
        "metadata": {"name": "c", "namespace": "default"},
        "spec": {**wanted, "storageClassName": of_class},
    }


@pytest.fixture
def static(storage: Storage) -> Storage:
    """A volume waits for the claim."""
    storage.catalog.storage_classes.put(sort_of("local"))
    storage.create(volume(), claim("local"))
    storage.patch(VOLUME + "/status", status={"phase": "Available"})
    storage.watch()
    return storage


@pytest.fixture
def dynamic(storage: Storage) -> Storage:
    """The claim's volume is to be made."""
    storage.catalog.storage_classes.put(sort_of("made", "csi.example"))
    storage.create(claim("made"))
    return storage


def mark_as_bound(storage: Storage) -> None:
    storage.patch(CLAIM, metadata={"annotations": BOUND}, spec={"volumeName": "pv"})
    storage.watch()


def test_a_volume_gets_its_claim_and_is_waited_for(static: Storage) -> None:
    static.seconds = [lambda: None, static.watch, lambda: mark_as_bound(static)]
    cycle, status = static.bind()
    assert status is None
    assert static.time == 3.0
    written = static.get(VOLUME)
    assert written["metadata"]["annotations"][BY_US] == "yes"
    claimed = {key: written["spec"]["claimRef"][key] for key in ("kind", "namespace", "name", "uid")}
    uid = static.get(CLAIM)["metadata"]["uid"]
    assert claimed == {"kind": "PersistentVolumeClaim", "namespace": "default", "name": "c", "uid": uid}
    static.world.plugin.unreserve(cycle, "n0")


def test_what_was_written_stays_assumed_until_the_watch_brings_it(static: Storage) -> None:
    other = pod_with(of_claim("d"), name="other")
    static.create({**claim("local"), "metadata": {"name": "d", "namespace": "default"}})
    static.seconds = [static.live.retire]
    cycle, status = static.bind()
    assert status is not None
    static.world.plugin.unreserve(cycle, "n0")
    assert sorted(static.world.verdicts(other)) == ["n0", "n1"]
    static.watch()
    assert sorted(static.world.verdicts(other)) == ["n0", "n1"]


def test_a_claim_that_was_written_stays_on_its_node(dynamic: Storage) -> None:
    dynamic.seconds = [dynamic.live.retire]
    cycle, status = dynamic.bind("n1")
    assert status is not None
    dynamic.world.plugin.unreserve(cycle, "n1")
    assert dynamic.world.verdicts(POD) == {"n0": (BIND_CONFLICT,)}


def test_a_claim_gets_its_node_and_is_waited_for(dynamic: Storage) -> None:
    def provision() -> None:
        dynamic.create(volume())
        mark_as_bound(dynamic)

    dynamic.seconds = [lambda: None, provision]
    _, status = dynamic.bind("n1")
    assert status is None
    assert dynamic.get(CLAIM)["metadata"]["annotations"][SELECTED_NODE] == "n1"


def test_a_change_in_between_is_a_conflict_and_nothing_stays_assumed(dynamic: Storage) -> None:
    dynamic.patch(CLAIM, metadata={"labels": {"a": "b"}})
    assert "the object has been modified" in dynamic.failure()
    assert SELECTED_NODE not in dynamic.get(CLAIM)["metadata"].get("annotations", {})
    assert dynamic.world.verdicts(POD) == {}


def test_a_volume_that_changed_in_between_is_a_conflict_too(static: Storage) -> None:
    static.patch(VOLUME, metadata={"labels": {"a": "b"}})
    assert "the object has been modified" in static.failure()
    assert "claimRef" not in static.get(VOLUME)["spec"]
    assert static.world.verdicts(POD) == {}


def test_time_is_up(dynamic: Storage) -> None:
    assert dynamic.failure() == "binding volumes: context deadline exceeded"
    assert dynamic.time == 30.0


def test_no_time_at_all(dynamic: Storage) -> None:
    dynamic.world = World(
        dynamic.catalog, dynamic.nodes, timeout=0, live=dynamic.live, port=dynamic.world.port
    )
    assert dynamic.failure() == "binding volumes: context deadline exceeded"
    assert dynamic.time == 0.0


@pytest.mark.parametrize("why", ["retired", "preempted"])
def test_whoever_is_called_back_waits_no_longer(dynamic: Storage, why: str) -> None:
    if why == "retired":
        dynamic.live.retire()
    else:
        dynamic.live.called_back = lambda uid: "preempted" if uid == POD.obj().metadata.uid else ""
    assert dynamic.failure() == "binding volumes: context canceled"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("pod", 'pod does not exist any more: pod "pod" not found'),
        ("n0", 'failed to get node "n0": node "n0" not found'),
    ],
)
def test_pod_or_node_gone(dynamic: Storage, name: str, message: str) -> None:
    dynamic.seconds = [lambda: dynamic.gone.add(name)]
    assert dynamic.failure() == f"binding volumes: {message}"


def drop_claim(storage: Storage) -> None:
    storage.catalog.persistent_volume_claims.remove(
        decode(PersistentVolumeClaim, msgspec.json.encode(claim("x")))
    )


def drop_volume(storage: Storage) -> None:
    storage.catalog.persistent_volumes.remove(decode(PersistentVolume, msgspec.json.encode(volume())))


def unclaim(storage: Storage) -> None:
    storage.patch(VOLUME, spec={"claimRef": None})
    storage.watch()


def unlabel(storage: Storage) -> None:
    row = storage.nodes.row_of("n0")
    assert row is not None
    node = storage.nodes.objects[row]
    metadata = msgspec.structs.replace(node.metadata, labels={})
    storage.nodes.set_node(msgspec.structs.replace(node, metadata=metadata))
    storage.watch()


OUT_OF_REACH = 'pv "pv" node affinity doesn\'t match node "n0": no matching NodeSelectorTerms'


@pytest.mark.parametrize(
    ("happens", "message"),
    [
        pytest.param(
            drop_volume, 'failed to check binding: persistentvolumes "pv" not found', id="volume gone"
        ),
        pytest.param(
            drop_claim,
            'failed to check binding: persistentvolumeclaims "default/c" not found',
            id="claim gone",
        ),
        pytest.param(unclaim, 'ClaimRef got reset for pv "pv"', id="claim taken out of the volume"),
        pytest.param(unlabel, OUT_OF_REACH, id="node out of reach"),
    ],
)
def test_a_volume_comes_to_nothing(static: Storage, happens: Callable[[Storage], None], message: str) -> None:
    static.seconds = [lambda: happens(static)]
    assert static.failure() == f"binding volumes: {message}"


def give_back(storage: Storage) -> None:
    storage.patch(CLAIM, metadata={"annotations": {SELECTED_NODE: None, "other": "x"}})
    storage.watch()


def forget_all(storage: Storage) -> None:
    storage.patch(CLAIM, metadata={"annotations": {SELECTED_NODE: None}})
    storage.watch()


def elsewhere(storage: Storage) -> None:
    storage.create(volume(nodeAffinity=within(HOST, "n1")))
    mark_as_bound(storage)


@pytest.mark.parametrize(
    ("happens", "message"),
    [
        pytest.param(give_back, 'provisioning failed for PVC "c"', id="the provisioner gives it back"),
        pytest.param(forget_all, 'selectedNode annotation reset for PVC "c"', id="no annotation is left"),
        pytest.param(
            drop_claim,
            'failed to check provisioning pvc: persistentvolumeclaims "default/c" not found',
            id="claim gone",
        ),
        pytest.param(elsewhere, OUT_OF_REACH, id="made somewhere else"),
    ],
)
def test_provisioning_comes_to_nothing(
    dynamic: Storage, happens: Callable[[Storage], None], message: str
) -> None:
    dynamic.seconds = [lambda: happens(dynamic)]
    assert dynamic.failure() == f"binding volumes: {message}"


def test_a_volume_that_the_watch_has_not_brought_yet_is_waited_for(dynamic: Storage) -> None:
    def bind_early() -> None:
        mark_as_bound(dynamic)

    dynamic.seconds = [bind_early, lambda: None, lambda: dynamic.create(volume())]
    _, status = dynamic.bind()
    assert status is None
    assert dynamic.time == 3.0
