"""The manifests are what a real API server would take, and the rights that they grant are the ones that are needed."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from scheduler.app.watches import RESOURCES
from scheduler.client.resources import NODES, PODS
from scheduler.sandbox.faults import Rule
from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import PROJECT, eventually, eventually_bound, node, pod, run, scheduler

MANIFESTS = PROJECT / "manifests"
METHODS = {
    "get": "GET",
    "list": "GET",
    "watch": "GET",
    "create": "POST",
    "update": "PUT",
    "patch": "PATCH",
    "delete": "DELETE",
}
ON_COLLECTIONS = frozenset({"list", "watch", "create"})
BUILT_IN: dict[str, list[dict[str, Any]]] = {
    "system:auth-delegator": [
        {"apiGroups": ["authentication.k8s.io"], "resources": ["tokenreviews"], "verbs": ["create"]},
        {"apiGroups": ["authorization.k8s.io"], "resources": ["subjectaccessreviews"], "verbs": ["create"]},
    ],
    "extension-apiserver-authentication-reader": [
        {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": ["extension-apiserver-authentication"],
            "verbs": ["get", "list", "watch"],
        }
    ],
}
"""Roles that every API server has, as far as they are used."""


WORK = """
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 1000}
---
apiVersion: v1
kind: Pod
metadata: {name: victim, namespace: default}
spec: {nodeName: n1, containers: [{name: main, image: busybox, resources: {requests: {cpu: "3"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: urgent, namespace: default}
spec: {priorityClassName: high, containers: [{name: main, image: busybox, resources: {requests: {cpu: "3"}}}]}
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: local}
provisioner: kubernetes.io/no-provisioner
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: storage.k8s.io/v1
kind: StorageClass
metadata: {name: made}
provisioner: disk.csi.example.org
volumeBindingMode: WaitForFirstConsumer
---
apiVersion: v1
kind: PersistentVolume
metadata: {name: disk}
spec:
  capacity: {storage: 1Gi}
  accessModes: [ReadWriteOnce]
  storageClassName: local
  local: {path: /mnt}
  nodeAffinity: {required: {nodeSelectorTerms: [{matchFields: [{key: metadata.name, operator: In, values: [n1]}]}]}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: there, namespace: default}
spec: {storageClassName: local, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: PersistentVolumeClaim
metadata: {name: to-come, namespace: default}
spec: {storageClassName: made, accessModes: [ReadWriteOnce], resources: {requests: {storage: 1Gi}}}
---
apiVersion: v1
kind: Pod
metadata: {name: reader, namespace: default}
spec:
  containers: [{name: main, image: busybox}]
  volumes:
    - {name: there, persistentVolumeClaim: {claimName: there}}
    - {name: to-come, persistentVolumeClaim: {claimName: to-come}}
"""
"""A pod that has to evict another one, and a pod with a claim for a volume that is there and one for a volume to be made."""


def documents(path: Path) -> list[dict[str, Any]]:
    return documents_of(path.read_text())


def documents_of(text: str) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(text) if each]


@pytest.mark.parametrize("name", ["samples/cluster.yaml", "scheduler.yaml", "extender.yaml"])
def test_manifests_are_accepted(name: str) -> None:
    sandbox = Sandbox()
    sandbox.load(documents(MANIFESTS / "namespace.yaml"))
    objects = documents(MANIFESTS / name)
    sandbox.load(objects)
    assert objects


@pytest.mark.parametrize(
    "path", sorted((MANIFESTS / "configurations").glob("*.yaml")), ids=lambda path: path.stem
)
def test_sample_configurations_are_accepted(path: Path, tmp_path: Path) -> None:
    text = path.read_text().replace("/etc/kubernetes/wharfinger", str(tmp_path / "wharfinger"))
    write_certificates(tmp_path)
    (tmp_path / "config.yaml").write_text(text)
    written = tmp_path / "in-force.yaml"
    done = run("--config=config.yaml", f"--write-config-to={written}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert documents(written)[0]["kind"] == "KubeSchedulerConfiguration"


@pytest.mark.parametrize("name", ["scheduler.yaml", "extender.yaml"])
def test_configurations_inside_the_manifests_are_accepted(name: str, tmp_path: Path) -> None:
    (text,) = [
        each["data"]["config.yaml"] for each in documents(MANIFESTS / name) if each["kind"] == "ConfigMap"
    ]
    (tmp_path / "config.yaml").write_text(text)
    done = run("--config=config.yaml", f"--write-config-to={tmp_path / 'in-force.yaml'}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["scheduler.yaml", "extender.yaml"])
def test_containers_are_confined(name: str) -> None:
    (spec,) = [
        each["spec"]["template"]["spec"]
        for each in documents(MANIFESTS / name)
        if each["kind"] == "Deployment"
    ]
    assert spec["securityContext"]["runAsNonRoot"]
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"]
        assert not context["allowPrivilegeEscalation"]
        assert context["capabilities"] == {"drop": ["ALL"]}


def test_the_roles_cover_everything_that_the_scheduler_asks(tmp_path: Path) -> None:
    """An API server that refuses whatever the roles do not grant refuses nothing."""
    flags = (
        "--leader-elect-resource-name=wharfinger",
        "--leader-elect-resource-namespace=wharfinger-system",
        "--authentication-kubeconfig=kubeconfig",
        "--authorization-kubeconfig=kubeconfig",
    )
    with Sandbox() as sandbox:
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        sandbox.load(documents(MANIFESTS / "namespace.yaml"))
        refusals = list(refuse_the_rest(sandbox))
        with scheduler(tmp_path, sandbox.url, *flags, open_paths="/readyz") as process:
            eventually(lambda: process.get("/metrics")[0] == 403, "a review")
            assert process.get("/metrics", Authorization="Bearer unknown")[0] in (200, 401)
            sandbox.load([node("n1"), pod("fits"), pod("does-not", nodeSelector={"no": "where"})])
            eventually_bound(sandbox, "fits")
            eventually(lambda: len(sandbox.store.objects("events")) >= 2, "both events")
            sandbox.load(documents_of(WORK))
            eventually_bound(sandbox, "urgent")
            eventually(lambda: chosen(sandbox), "a volume to be chosen and its claim to be told")
            assert process.terminate() == 0
            assert {rule.method: rule.hits for rule in refusals if rule.hits} == {}, process.log.read_text()


def chosen(sandbox: Sandbox) -> bool:
    """Whether one volume has got its claim, and the other claim its node: the scheduler writes both."""
    volume = sandbox.store.get("persistentvolumes", "", "disk") or {}
    claim = sandbox.store.get("persistentvolumeclaims", "default", "to-come") or {}
    told = claim.get("metadata", {}).get("annotations", {})
    return "claimRef" in volume.get("spec", {}) and "volume.kubernetes.io/selected-node" in told


def test_watching_is_allowed_for_exactly_the_kinds_that_can_be_watched() -> None:
    (role,) = [
        each
        for each in documents(MANIFESTS / "rbac.yaml")
        if (each["kind"], each["metadata"]["name"]) == ("ClusterRole", "wharfinger:view")
    ]
    allowed = {
        f"{plural}.{group}".rstrip(".")
        for rule in role["rules"]
        for group in rule["apiGroups"]
        for plural in rule["resources"]
    }
    assert allowed == {resource.name for resource in (NODES, PODS, *RESOURCES.values())}


def refuse_the_rest(sandbox: Sandbox) -> Iterator[Rule]:
    """Rules that answer 403 to every request that no role of rbac.yaml allows."""
    granted: dict[str, list[str]] = {method: [] for method in METHODS.values()}
    objects = documents(MANIFESTS / "rbac.yaml")
    bound = {
        each["roleRef"]["name"]: each["metadata"].get("namespace", "")
        for each in objects
        if "roleRef" in each
    }
    for name, rules in BUILT_IN.items():
        objects.append({"metadata": {"namespace": bound[name]}, "rules": rules})
    for role in objects:
        for rule in role.get("rules", ()):
            for method, pattern in patterns(rule, role["metadata"].get("namespace", "")):
                granted[method].append(pattern)
    for method, allowed in granted.items():
        path = f"^(?!(?:{'|'.join(allowed)})$)" if allowed else ""
        yield sandbox.faults.add(method=method, path=path, status=403)


def patterns(rule: dict[str, Any], namespace: str) -> Iterator[tuple[str, str]]:
    """(method, pattern of the path) for what one rule of a role allows."""
    names = "|".join(map(re.escape, rule.get("resourceNames", ()))) or "[^/]+"
    place = f"namespaces/{namespace}/" if namespace else "(?:namespaces/[^/]+/)?"
    for group in rule.get("apiGroups", ()):
        root = f"/apis/{re.escape(group)}/v1/" if group else "/api/v1/"
        for resource in rule["resources"]:
            kind, _, subresource = resource.partition("/")
            for verb in rule["verbs"]:
                single = verb not in ON_COLLECTIONS or subresource
                tail = f"/(?:{names})" + (f"/{subresource}" if subresource else "") if single else ""
                yield METHODS[verb], f"{root}{place}{kind}{tail}"


def write_certificates(directory: Path) -> None:
    """Those that a configuration names: an authority's, and a client's with its key."""
    authority = trustme.CA()
    client = authority.issue_cert("client.example")
    authority.cert_pem.write_to_path(str(directory / "wharfinger-ca.crt"))
    client.cert_chain_pems[0].write_to_path(str(directory / "wharfinger-client.crt"))
    client.private_key_pem.write_to_path(str(directory / "wharfinger-client.key"))
