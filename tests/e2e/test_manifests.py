"""The manifests are what a real API server would take, and the rights that they grant are the ones that are needed."""

import base64
import re
import socket
import ssl
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from scheduler.app.options import Options
from scheduler.app.watches import RESOURCES
from scheduler.client.resources import NODES, PODS
from scheduler.sandbox.faults import Rule
from scheduler.sandbox.sandbox import Sandbox
from tests.e2e.processes import (
    BIN,
    DEADLINE,
    PROJECT,
    eventually,
    eventually_bound,
    node,
    pod,
    run,
    scheduler,
    shell,
)

MANIFESTS = PROJECT / "manifests"
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
USES = ("base", "overlays/extender", "overlays/default-scheduler", "overlays/monitored")
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


@cache
def rendered(name: str) -> tuple[dict[str, Any], ...]:
    """What ``kubectl apply -k`` would apply."""
    done = subprocess.run(
        [BIN / "kubectl", "kustomize", MANIFESTS / name], capture_output=True, text=True, timeout=DEADLINE
    )
    assert done.returncode == 0, done.stderr
    return tuple(documents_of(done.stdout))


def of_kind(name: str, kind: str) -> list[dict[str, Any]]:
    return [each for each in rendered(name) if each["kind"] == kind]


def pod_template(name: str) -> dict[str, Any]:
    (deployment,) = of_kind(name, "Deployment")
    template: dict[str, Any] = deployment["spec"]["template"]
    return template


@pytest.mark.parametrize("name", USES)
def test_a_server_accepts_what_kubectl_applies(name: str, tmp_path: Path) -> None:
    with Sandbox() as sandbox:
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        sandbox.load(documents(MANIFESTS / "common" / "namespace.yaml"))
        kubectl = f"kubectl --kubeconfig {tmp_path / 'kubeconfig'}"
        dry = shell(f"{kubectl} apply --dry-run=server -k {MANIFESTS / name}", tmp_path)
        assert dry.count("(server dry run)") == len(rendered(name))
        assert not sandbox.store.objects("deployments.apps")
        shell(f"{kubectl} apply -k {MANIFESTS / name}", tmp_path)
        again = shell(f"{kubectl} apply -k {MANIFESTS / name}", tmp_path).splitlines()
        assert all(line.endswith(" unchanged") for line in again), again


def test_the_sample_cluster_is_accepted() -> None:
    objects = documents(MANIFESTS / "samples" / "cluster.yaml")
    Sandbox().load(objects)
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


@pytest.mark.parametrize("name", USES)
def test_configurations_inside_the_manifests_are_accepted(name: str, tmp_path: Path) -> None:
    (text,) = [each["data"]["config.yaml"] for each in of_kind(name, "ConfigMap")]
    (tmp_path / "config.yaml").write_text(text)
    done = run("--config=config.yaml", f"--write-config-to={tmp_path / 'in-force.yaml'}", cwd=tmp_path)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", USES)
def test_containers_are_confined(name: str) -> None:
    spec = pod_template(name)["spec"]
    assert spec["securityContext"]["runAsNonRoot"]
    for container in spec["containers"]:
        context = container["securityContext"]
        assert context["readOnlyRootFilesystem"]
        assert not context["allowPrivilegeEscalation"]
        assert context["capabilities"] == {"drop": ["ALL"]}


@pytest.mark.parametrize("name", USES)
def test_services_and_budgets_are_about_the_pods_that_there_are(name: str) -> None:
    labels = pod_template(name)["metadata"]["labels"].items()
    (budget,) = of_kind(name, "PodDisruptionBudget")
    (service,) = of_kind(name, "Service")
    assert budget["spec"]["selector"]["matchLabels"].items() <= labels
    assert service["spec"]["selector"].items() <= labels
    (container,) = pod_template(name)["spec"]["containers"]
    ports = {port["name"] for port in container["ports"]}
    assert {port["targetPort"] for port in service["spec"]["ports"]} <= ports
    assert {container[probe]["httpGet"]["port"] for probe in PROBES} <= ports


@pytest.mark.parametrize("name", USES)
def test_every_account_and_role_that_is_bound_exists(name: str) -> None:
    there = {(each["kind"], each["metadata"]["name"]) for each in rendered(name)}
    bindings = [each for each in rendered(name) if "roleRef" in each]
    roles = {(each["roleRef"]["kind"], each["roleRef"]["name"]) for each in bindings}
    assert {(kind, role) for kind, role in roles if role not in BUILT_IN} <= there
    accounts = {(one["kind"], one["name"]) for each in bindings for one in each["subjects"]}
    assert accounts - there <= {("User", "system:kube-scheduler"), ("ServiceAccount", "prometheus-k8s")}
    assert ("ServiceAccount", pod_template(name)["spec"]["serviceAccountName"]) in there


@pytest.mark.parametrize("name", ["base", "overlays/default-scheduler"])
def test_the_lease_of_the_configuration_is_the_one_that_may_be_held(name: str) -> None:
    (config,) = [documents_of(each["data"]["config.yaml"])[0] for each in of_kind(name, "ConfigMap")]
    (role,) = of_kind(name, "Role")
    named = [rule["resourceNames"] for rule in role["rules"] if "resourceNames" in rule]
    assert named == [[config["leaderElection"]["resourceName"]]]
    assert role["metadata"]["namespace"] == config["leaderElection"]["resourceNamespace"]


def test_the_monitor_finds_the_service() -> None:
    (monitor,) = of_kind("overlays/monitored", "ServiceMonitor")
    (service,) = of_kind("overlays/monitored", "Service")
    assert monitor["spec"]["selector"]["matchLabels"].items() <= service["metadata"]["labels"].items()
    assert {one["port"] for one in monitor["spec"]["endpoints"]} == {
        port["name"] for port in service["spec"]["ports"]
    }
    (role,) = [
        each
        for each in of_kind("overlays/monitored", "ClusterRole")
        if each["metadata"]["name"] == "wharfinger:metrics"
    ]
    allowed = set(role["rules"][0]["nonResourceURLs"])
    assert {one["path"] for one in monitor["spec"]["endpoints"]} <= allowed


def test_the_static_pod_has_flags_that_are_known(tmp_path: Path) -> None:
    (static,) = documents(MANIFESTS / "overlays" / "default-scheduler" / "static-pod.yaml")
    Sandbox().load([static])
    (container,) = static["spec"]["containers"]
    options, errors = Options.parse(container["args"])
    assert errors == ()
    assert options.deprecated.kubeconfig == "/etc/kubernetes/scheduler.conf"


@pytest.mark.parametrize("name", USES)
def test_the_flags_of_containers_are_known(name: str) -> None:
    (container,) = pod_template(name)["spec"]["containers"]
    assert Options.parse(container["args"])[1] == ()


def test_certificates_are_made_for_the_service_and_replaced(tmp_path: Path) -> None:
    """The script as a user runs it; then a client that trusts its CA speaks to a scheduler with the Secret's certificate."""
    script = MANIFESTS / "overlays" / "extender" / "certificates.sh"
    with Sandbox() as sandbox:
        sandbox.write_kubeconfig(tmp_path / "kubeconfig")
        line = f"KUBECONFIG={tmp_path / 'kubeconfig'} {script} made 10.96.0.7 extender.example.org fd00::7"
        shell(line, tmp_path)
        first = secret(sandbox)
        assert shell(line, tmp_path).endswith("caFile for kube-scheduler: made/ca.crt\n")
        second = secret(sandbox)
        assert first["tls.crt"] != second["tls.crt"]
        for key, text in second.items():
            (tmp_path / key).write_bytes(base64.b64decode(text))
        assert (tmp_path / "made" / "ca.key").stat().st_mode & 0o077 == 0
        serving = ("--tls-cert-file=tls.crt", "--tls-private-key-file=tls.key", "--leader-elect=false")
        with scheduler(tmp_path, sandbox.url, *serving) as process:
            process.wait_until_ready()
            trust = ssl.create_default_context(cafile=tmp_path / "made" / "ca.crt")
            for name in ("wharfinger-extender.wharfinger-system.svc", "10.96.0.7", "fd00::7"):
                with (
                    socket.create_connection(("127.0.0.1", process.port), DEADLINE) as raw,
                    trust.wrap_socket(raw, server_hostname=name) as connection,
                ):
                    assert connection.version() == "TLSv1.3"


def secret(sandbox: Sandbox) -> dict[str, str]:
    """The data of the Secret that the extender's Deployment mounts."""
    (volume,) = [one for one in pod_template("overlays/extender")["spec"]["volumes"] if "secret" in one]
    found = sandbox.store.get("secrets", "wharfinger-system", volume["secret"]["secretName"])
    assert found is not None
    data: dict[str, str] = found["data"]
    return data


def test_the_image_is_built_from_what_is_not_ignored() -> None:
    copied = re.findall(r"^COPY (?!--)(.*) \S+$", (MANIFESTS / "Dockerfile").read_text(), re.MULTILINE)
    sources = {word for line in copied for word in line.split()}
    lines = (PROJECT / ".dockerignore").read_text().split()
    assert sources == {line[1:] for line in lines if line.startswith("!")}
    assert all((PROJECT / source).exists() for source in sources)


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
        sandbox.load(documents(MANIFESTS / "common" / "namespace.yaml"))
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
        for each in rendered("base")
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
    """Rules that answer 403 to every request that no role of the base allows."""
    granted: dict[str, list[str]] = {method: [] for method in METHODS.values()}
    objects = [*rendered("base")]
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
    # A process that places the default scheduler's pods, as the one of this test does, also asks who holds kube-scheduler's lease.
    granted["GET"].append("/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/kube-scheduler")
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
