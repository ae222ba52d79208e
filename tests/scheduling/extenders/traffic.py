"""The recorded traffic of a real kube-scheduler 1.36.2 with an extender: 69 cases, with what became of them.

``traffic.json.gz`` has for each case the extenders' configuration, the exchanges in order, and the outcome: where pods went, their
conditions and events, and for preemptions who was terminating.
"""

from __future__ import annotations

import copy
import gzip
import json
from functools import cache
from pathlib import Path
from typing import Any

from tests.scheduling.extenders.servers import Document

_DATA = Path(__file__).parent / "traffic.json.gz"
_HOSTS = ("http://127.0.0.1:18801", "http://127.0.0.1:18899")
"""Where the recorded extenders were; the second is one that was down."""


@cache
def cases() -> dict[str, Document]:
    """The cases by name."""
    loaded: dict[str, Document] = json.loads(gzip.decompress(_DATA.read_bytes()))
    return loaded


def moved(document: Any, alive: str, down: str) -> Any:
    """The document with the URLs of extenders that are elsewhere now."""
    text = json.dumps(document)
    for before, now in zip(_HOSTS, (alive, down), strict=True):
        text = text.replace(before, now).replace(before.removeprefix("http://"), now.removeprefix("http://"))
    return json.loads(text)


def nodes_of(case: Document) -> list[Document]:
    """The three nodes, as they were sent in the case or else in another one."""
    found: dict[str, Document] = {}
    for exchange in (*case["exchanges"], *cases()["ccf-basic"]["exchanges"]):
        for node in (exchange["request"].get("Nodes") or {"items": []})["items"]:
            if node["metadata"]["name"] in ("node-a", "node-b", "node-c"):
                found.setdefault(node["metadata"]["name"], node)
    return copy.deepcopy(list(found.values()))


def pod_of(case: Document, name: str) -> Document:
    """The pod as it was sent first; one that never was is made after another."""
    for exchange in case["exchanges"]:
        sent = exchange["request"].get("Pod")
        if sent and sent["metadata"]["name"] == name:
            return copy.deepcopy(dict(sent))
    like: Document = copy.deepcopy(cases()["cct-basic"]["exchanges"][0]["request"]["Pod"])
    like["metadata"].update(name=name, uid=f"uid-of-{name}")
    return like


def victims_of(name: str) -> list[Document]:
    """The pods that ran on the nodes, with the uids under which they were sent; their names tell where."""
    case = cases()[name]
    uids, whole = _victim_uids(case), _whole_victims(case)
    cpu = {"preempt-pdb-cct": "1500m", "fail-unresolvable": "100m"}.get(name, "3500m")
    found = []
    for victim in sorted({*case["pods"], *(case["terminating"] or ())}):
        if not victim.startswith("v-"):
            continue
        node = victim.removeprefix("v-") if "node" in victim else f"node-{victim[2]}"
        if victim in whole:
            found.append(copy.deepcopy(whole[victim]))
            continue
        pod = copy.deepcopy(_a_victim())
        uid = uids[node] if victim.endswith("0") and node in uids else f"uid-of-{victim}"
        pod["metadata"].update(name=victim, uid=uid)
        pod["spec"]["nodeName"] = node
        pod["spec"]["containers"][0]["resources"]["requests"]["cpu"] = cpu
        found.append(pod)
    return found


def _a_victim() -> Document:
    sent = cases()["preempt-ccf"]["exchanges"][0]["request"]["NodeNameToVictims"]
    pod: Document = sent["node-a"]["Pods"][0]
    return pod


def _whole_victims(case: Document) -> dict[str, Document]:
    """The victims that were sent in full, by name."""
    sent = (exchange["request"].get("NodeNameToVictims") or {} for exchange in case["exchanges"])
    return {pod["metadata"]["name"]: pod for nodes in sent for one in nodes.values() for pod in one["Pods"]}


def _victim_uids(case: Document) -> dict[str, str]:
    """The one victim of each node that was sent."""
    for exchange in case["exchanges"]:
        request = exchange["request"]
        if request.get("NodeNameToMetaVictims"):
            meta = request["NodeNameToMetaVictims"]
            return {node: one["Pods"][0]["UID"] for node, one in meta.items()}
    return {}
