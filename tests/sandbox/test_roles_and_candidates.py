"""Roles, bindings, leases and candidates for them: what a server accepts, and what it says of the rest."""

from __future__ import annotations

from typing import Any

import pytest

from tests.sandbox.rest import Object, Rest

RBAC = "/apis/rbac.authorization.k8s.io/v1"
ROLES, BINDINGS = f"{RBAC}/namespaces/default/roles", f"{RBAC}/namespaces/default/rolebindings"
CANDIDATES = "/apis/coordination.k8s.io/v1beta1/namespaces/default/leasecandidates"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/default/leases"
GROUP = "rbac.authorization.k8s.io"
READ = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
USER = {"kind": "User", "apiGroup": GROUP, "name": "me"}


def role(name: str = "system:reader", **rule: Any) -> Object:
    return {"metadata": {"name": name}, "rules": [{**READ, **rule}]}


def binding(*subjects: Object, **ref: Any) -> Object:
    whole = {"apiGroup": GROUP, "kind": "Role", "name": "system:reader", **ref}
    return {"metadata": {"name": "system:reader"}, "roleRef": whole, "subjects": list(subjects)}


def candidate(name: str = "host_1a2b", **spec: Any) -> Object:
    given = {
        "leaseName": "kube-scheduler",
        "binaryVersion": "1.36.2",
        "emulationVersion": "1.36.0",
        "strategy": "OldestEmulationVersion",
    }
    return {"metadata": {"name": name}, "spec": {**given, **spec}}


FAULTS: list[tuple[str, str, Object, list[str]]] = [
    ("role name", ROLES, role("a/b"), ["metadata.name"]),
    ("no verbs", ROLES, role(verbs=[]), ["rules[0].verbs"]),
    ("no resources", ROLES, role(resources=[], apiGroups=[]), ["rules[0].apiGroups", "rules[0].resources"]),
    ("path in a namespace", ROLES, role(nonResourceURLs=["/metrics"], resources=[], apiGroups=[]),
     ["rules[0].nonResourceURLs"]),
    ("path and resource", f"{RBAC}/clusterroles", role(nonResourceURLs=["/metrics"]), ["rules[0].nonResourceURLs"]),
    ("no role", BINDINGS, binding(name=""), ["roleRef.name"]),
    ("group of the role", BINDINGS, binding(apiGroup=""), ["roleRef.apiGroup"]),
    ("role of a namespace everywhere", f"{RBAC}/clusterrolebindings", binding(), ["roleRef.kind"]),
    ("subject", BINDINGS, binding({"kind": "Robot", "name": "x"}), ["subjects[0].kind"]),
    ("user without group", BINDINGS, binding({"kind": "User", "name": "x"}), ["subjects[0].apiGroup"]),
    ("account of nowhere", f"{RBAC}/clusterrolebindings",
     binding({"kind": "ServiceAccount", "name": "x"}, kind="ClusterRole"), ["subjects[0].namespace"]),
    ("candidate name", CANDIDATES, candidate("a:b"), ["metadata.name"]),
    ("candidate for nothing", CANDIDATES, candidate(leaseName=""), ["spec.leaseName"]),
    ("no version", CANDIDATES, candidate(binaryVersion=""), ["spec.binaryVersion"]),
    ("version with a letter", CANDIDATES, candidate(binaryVersion="v1.36.2"), ["spec.binaryVersion"]),
    ("older than what it emulates", CANDIDATES, candidate(binaryVersion="1.35.0"), ["spec.binaryVersion"]),
    ("no emulated version", CANDIDATES, candidate(emulationVersion=""), ["spec.emulationVersion"]),
    ("no strategy", CANDIDATES, candidate(strategy=""), ["spec.strategy"]),
    ("unknown strategy", CANDIDATES, candidate(strategy="Newest"), ["spec.strategy.strategy"]),
    ("preferred without a strategy", LEASES,
     {"metadata": {"name": "l"}, "spec": {"preferredHolder": "x"}}, ["spec.preferredHolder"]),
]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "body", "fields"), [case[1:] for case in FAULTS], ids=[case[0] for case in FAULTS]
)
def test_faults_are_named(rest: Rest, path: str, body: Object, fields: list[str]) -> None:
    reply = rest.post(path, body)
    assert (reply.status, reply.causes) == (422, fields)


@pytest.mark.parametrize(
    ("path", "body"),
    [
        (ROLES, role()),
        (f"{RBAC}/clusterroles", role(nonResourceURLs=["/metrics"], resources=[], apiGroups=[])),
        (BINDINGS, binding(USER, {"kind": "ServiceAccount", "name": "here"})),
        (CANDIDATES, candidate()),
        (CANDIDATES, candidate(strategy="example.org/mine", emulationVersion="")),
        (LEASES, {"metadata": {"name": "l"}, "spec": {"strategy": "OldestEmulationVersion", "preferredHolder": "x"}}),
    ],
    ids=["role", "paths", "binding", "candidate", "own strategy", "lease"],
)  # fmt: skip
def test_what_is_right_is_accepted(rest: Rest, path: str, body: Object) -> None:
    assert rest.post(path, body).status == 201


def test_a_binding_keeps_its_role(rest: Rest) -> None:
    rest.post(BINDINGS, binding(USER))
    reply = rest.patch(f"{BINDINGS}/system:reader", {"roleRef": {"name": "other"}}, "merge")
    assert (reply.status, reply.causes) == (422, ["roleRef"])


def test_a_candidate_keeps_its_lease(rest: Rest) -> None:
    rest.post(CANDIDATES, candidate())
    reply = rest.patch(f"{CANDIDATES}/host_1a2b", {"spec": {"leaseName": "other"}}, "merge")
    assert (reply.status, reply.causes) == (422, ["spec.leaseName"])
