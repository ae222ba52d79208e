"""A LeaseCandidate that is kept on a real server: made, renewed when it is asked about, made again when it is gone."""

import threading
from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import pytest

from scheduler.client.backoff import Backoff
from scheduler.client.candidate import Candidacy, Standing
from scheduler.client.errors import NotFoundError
from scheduler.client.resources import LEASE_CANDIDATES
from scheduler.client.rest import Rest
from scheduler.sandbox import Sandbox

STANDING = Standing("kube-system", "kube-scheduler", "host_1a2b", "1.36.2", "1.36.0")
PATH = LEASE_CANDIDATES.object(STANDING.namespace, STANDING.identity)
PING = "2099-01-01T00:00:00.000000Z"


@pytest.fixture
def candidacy(rest: Rest) -> Iterator[Candidacy]:
    made = Candidacy(rest, STANDING, backoff=Backoff(0.005, 0.01))
    yield made
    made.stop()


def candidate(rest: Rest) -> dict[str, Any]:
    """The object; empty while there is none."""
    try:
        return msgspec.json.decode(rest.request("GET", PATH).body, type=dict[str, Any])
    except NotFoundError:
        return {}


def eventually(look: Callable[[], Any]) -> Any:
    pause = threading.Event()
    while not (found := look()):
        pause.wait(0.005)
    return found


def test_it_says_what_it_wants_and_which_version_it_is(candidacy: Candidacy, rest: Rest) -> None:
    assert candidacy.unsynced() == "not synced yet: leasecandidates.coordination.k8s.io"
    candidacy.start()
    spec = eventually(lambda: candidate(rest))["spec"]
    assert spec.pop("renewTime")
    assert spec == {
        "leaseName": "kube-scheduler",
        "binaryVersion": "1.36.2",
        "emulationVersion": "1.36.0",
        "strategy": "OldestEmulationVersion",
    }
    assert candidacy.unsynced() is None


def test_a_ping_is_answered_by_a_renewal(candidacy: Candidacy, rest: Rest) -> None:
    candidacy.start()
    first = eventually(lambda: candidate(rest))
    ping = {"spec": {"pingTime": PING}, "metadata": {"labels": {"kept": "yes"}}}
    rest.request("PATCH", PATH, body=ping, content_type="application/merge-patch+json")
    renewed = eventually(
        lambda: (now := candidate(rest))["spec"]["renewTime"] != first["spec"]["renewTime"] and now
    )
    assert renewed["metadata"]["labels"] == {"kept": "yes"}
    assert renewed["spec"]["pingTime"] == PING


def test_one_that_is_there_already_is_renewed(candidacy: Candidacy, rest: Rest) -> None:
    spec = {
        "leaseName": "kube-scheduler",
        "binaryVersion": "1.36.2",
        "emulationVersion": "1.36.0",
        "strategy": "OldestEmulationVersion",
        "renewTime": "2020-01-01T00:00:00.000000Z",
    }
    body = {"metadata": {"name": STANDING.identity}, "spec": spec}
    rest.request("POST", LEASE_CANDIDATES.collection(STANDING.namespace), body=body)
    candidacy.start()
    eventually(lambda: candidate(rest)["spec"]["renewTime"] > "2021")


def test_it_is_made_again_when_somebody_removes_it(candidacy: Candidacy, rest: Rest) -> None:
    candidacy.start()
    uid = eventually(lambda: candidate(rest))["metadata"]["uid"]
    rest.request("DELETE", PATH)
    eventually(lambda: candidate(rest).get("metadata", {}).get("uid", uid) != uid)


def test_what_goes_wrong_is_tried_again(candidacy: Candidacy, rest: Rest, sandbox: Sandbox) -> None:
    refused = sandbox.faults.add(method="POST", path="leasecandidates", status=403, times=3)
    candidacy.start()
    eventually(lambda: candidate(rest))
    assert refused.hits == 3
