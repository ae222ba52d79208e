"""A real kubectl against the sandbox: what a user does first."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from scheduler.sandbox import Sandbox
from tests.sandbox.rest import Rest, binding, deployment, event, labelled, node, pod

Kubectl = Callable[..., str]
KUBECTL = Path(sys.executable).parent / "kubectl"
MANIFEST = """
apiVersion: v1
kind: Pod
metadata: {name: web, labels: {app: web}}
spec:
  containers:
  - {name: main, image: "app:1", resources: {requests: {cpu: "0.5"}}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {app: d}}
  template:
    metadata: {labels: {app: d}}
    spec: {containers: [{name: main, image: "app:1"}]}
"""


@pytest.fixture
def kubectl(kubeconfig: Path, tmp_path: Path) -> Kubectl:
    """Run kubectl; returns its output (standard error after standard output), asserts the exit code."""

    def run(*words: str, code: int = 0, stdin: str = "", **extra: str) -> str:
        environment = {
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(tmp_path),
            "PATH": os.environ["PATH"],
            **extra,
        }
        done = subprocess.run(
            [str(KUBECTL), *words], input=stdin, capture_output=True, text=True, env=environment, timeout=60
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    return run


def test_get_prints_tables_and_objects(sandbox: Sandbox, kubectl: Kubectl) -> None:
    ready = node()
    ready["status"]["conditions"] = [{"type": "Ready", "status": "True"}]
    sandbox.load([ready, pod("a", nodeName="n1"), pod("b")])
    lines = kubectl("get", "pods", "-o", "wide").splitlines()
    assert lines[0].split() == [
        "NAME",
        "READY",
        "STATUS",
        "RESTARTS",
        "AGE",
        "IP",
        "NODE",
        "NOMINATED",
        "NODE",
        "READINESS",
        "GATES",
    ]
    assert lines[1].split()[:4] == ["a", "0/1", "Pending", "0"]
    assert "n1" in lines[1].split()
    assert kubectl("get", "nodes").splitlines()[1].split()[:3] == ["n1", "Ready", "<none>"]
    assert kubectl("get", "pods", "--chunk-size=1", "-o", "name").split() == ["pod/a", "pod/b"]
    assert "schedulerName: default-scheduler" in kubectl("get", "pod", "a", "-o", "yaml")
    assert (
        kubectl(
            "get",
            "po",
            "-A",
            "--field-selector",
            "spec.nodeName=n1",
            "-o",
            "jsonpath={.items[*].metadata.name}",
        )
        == "a"
    )


def test_apply_twice_then_changed(kubectl: Kubectl) -> None:
    assert kubectl("apply", "-f", "-", stdin=MANIFEST).split("\n")[:2] == [
        "pod/web created",
        "deployment.apps/d created",
    ]
    again = kubectl("apply", "-f", "-", stdin=MANIFEST)
    assert "deployment.apps/d unchanged" in again
    assert "warning" not in again.lower()
    changed = MANIFEST.replace('image: "app:1"', 'image: "app:2"')
    assert kubectl("apply", "-f", "-", stdin=changed).split("\n")[:2] == [
        "pod/web configured",
        "deployment.apps/d configured",
    ]
    assert kubectl("get", "deploy", "d", "-o", "jsonpath={..image}") == "app:2"
    assert "serverside-applied" in kubectl(
        "apply", "--server-side", "--force-conflicts", "-f", "-", stdin=changed
    )


def test_a_typing_error_is_caught(kubectl: Kubectl) -> None:
    output = kubectl("apply", "-f", "-", stdin=MANIFEST.replace("containers:\n", "containerz:\n"), code=1)
    assert 'unknown field "spec.containerz"' in output


def test_invalid_objects_are_explained(kubectl: Kubectl) -> None:
    output = kubectl("apply", "-f", "-", stdin=MANIFEST.replace("name: web,", "name: W_,"), code=1)
    assert 'The Pod "W_" is invalid: metadata.name: Invalid value: "W_"' in output


def test_describe_shows_events(sandbox: Sandbox, rest: Rest, kubectl: Kubectl) -> None:
    sandbox.load([node(), pod("a")])
    rest.post("/api/v1/namespaces/default/pods/a/binding", binding("a", "n1"))
    uid = rest.get("/api/v1/namespaces/default/pods/a").body["metadata"]["uid"]
    about = {"kind": "Pod", "namespace": "default", "name": "a", "uid": uid, "apiVersion": "v1"}
    told = event("e", regarding=about, reason="Scheduled", note="assigned to n1")
    rest.post("/apis/events.k8s.io/v1/namespaces/default/events", told)
    text = kubectl("describe", "pod", "a")
    assert "Scheduled" in text.partition("Events:")[2]
    assert "PodScheduled   True" in text
    assert "a " in kubectl("describe", "node", "n1").partition("Non-terminated Pods:")[2]
    assert "assigned to n1" in kubectl("get", "events")


def test_nodes_are_labelled_tainted_and_cordoned(sandbox: Sandbox, rest: Rest, kubectl: Kubectl) -> None:
    sandbox.load([node()])
    kubectl("label", "node", "n1", "disk=ssd")
    kubectl("annotate", "node", "n1", "note=x")
    kubectl("taint", "node", "n1", "k=v:NoSchedule")
    kubectl("cordon", "n1")
    found = rest.get("/api/v1/nodes/n1").body
    assert found["metadata"]["labels"]["disk"] == "ssd"
    assert found["metadata"]["annotations"] == {"note": "x"}
    assert found["spec"] == {
        "taints": [{"effect": "NoSchedule", "key": "k", "value": "v"}],
        "unschedulable": True,
    }
    kubectl("taint", "node", "n1", "k=v:NoSchedule-")
    kubectl("uncordon", "n1")
    assert rest.get("/api/v1/nodes/n1").body["spec"] == {}


@pytest.mark.parametrize(
    ("kind", "patch"),
    [
        ("strategic", '{"metadata":{"labels":{"a":"b"}}}'),
        ("merge", '{"metadata":{"labels":{"a":"b"}}}'),
        ("json", '[{"op":"add","path":"/metadata/labels","value":{"a":"b"}}]'),
    ],
)
def test_patch(sandbox: Sandbox, rest: Rest, kubectl: Kubectl, kind: str, patch: str) -> None:
    sandbox.load([pod("a")])
    assert kubectl("patch", "pod", "a", "--type", kind, "-p", patch) == "pod/a patched\n"
    assert rest.get("/api/v1/namespaces/default/pods/a").body["metadata"]["labels"] == {"a": "b"}


def test_patch_of_a_status(sandbox: Sandbox, kubectl: Kubectl) -> None:
    sandbox.load([pod("a")])
    kubectl("patch", "pod", "a", "--subresource=status", "-p", '{"status":{"phase":"Running"}}')
    assert kubectl("get", "pod", "a", "--no-headers").split()[2] == "Running"


def test_edit_scale_and_image(sandbox: Sandbox, kubectl: Kubectl) -> None:
    sandbox.load([deployment()])
    assert "edited" in kubectl("edit", "deploy", "d", KUBE_EDITOR="sed -i s/replicas:\\ 1/replicas:\\ 3/")
    assert kubectl("get", "deploy", "d", "--no-headers").split()[1] == "0/3"
    assert "scaled" in kubectl("scale", "deploy", "d", "--replicas=2")
    assert "image updated" in kubectl("set", "image", "deploy/d", "main=app:9")
    assert kubectl("get", "deploy", "d", "-o", "jsonpath={.spec.replicas} {..image}") == "2 app:9"


def test_delete_in_its_forms(sandbox: Sandbox, kubectl: Kubectl) -> None:
    sandbox.load(
        [labelled("a", app="x"), labelled("b", app="y"), pod("c", nodeName="n1"), pod("d", nodeName="n1")]
    )
    assert 'pod "a" deleted' in kubectl("delete", "pods", "-l", "app=x")
    assert 'pod "c" deleted' in kubectl("delete", "pod", "c")
    assert 'pod "d" force deleted' in kubectl("delete", "pod", "d", "--grace-period=0", "--force")
    kubectl("delete", "pods", "--all")
    assert kubectl("get", "pods") == "No resources found in default namespace.\n"


def test_drain_evicts(sandbox: Sandbox, kubectl: Kubectl) -> None:
    sandbox.load([node(), pod("a", nodeName="n1")])
    output = kubectl("drain", "n1", "--force", "--timeout=30s")
    assert "pod/a evicted" in output
    assert "SchedulingDisabled" in kubectl("get", "node", "n1")


def test_typed_creates(kubectl: Kubectl) -> None:
    assert kubectl("create", "namespace", "team") == "namespace/team created\n"
    kubectl("create", "deployment", "web", "--image=app:1", "-n", "team")
    kubectl("create", "configmap", "cm", "--from-literal=a=b", "-n", "team")
    kubectl("create", "secret", "generic", "s", "--from-literal=a=b", "-n", "team")
    kubectl("create", "priorityclass", "high", "--value=1000")
    kubectl("run", "one", "--image=app:1", "-n", "team")
    kubectl("expose", "deploy", "web", "--port=80", "-n", "team")
    output = kubectl("get", "all,cm,secret", "-n", "team", "-o", "name").split()
    assert {"pod/one", "deployment.apps/web", "service/web", "configmap/cm", "secret/s"} <= set(output)
    kubectl("delete", "namespace", "team")
    assert "NotFound" in kubectl("get", "namespace", "team", code=1)


def test_watch_follows_a_pod(sandbox: Sandbox, rest: Rest, kubeconfig: Path) -> None:
    sandbox.load([pod("a")])
    words = [str(KUBECTL), "--kubeconfig", str(kubeconfig), "get", "pods", "--watch", "--output-watch-events"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as process:
        lines = iter(process.stdout or ())
        seen = [next(lines).split()[:2], next(lines).split()[:2]]
        rest.post("/api/v1/namespaces/default/pods/a/binding", binding("a", "n1"))
        seen.append(next(lines).split()[:2])
        rest.delete("/api/v1/namespaces/default/pods/a", {"gracePeriodSeconds": 0})
        seen += [next(lines).split()[:2], next(lines).split()[:2]]
        process.terminate()
    assert seen == [["EVENT", "NAME"], ["ADDED", "a"], ["MODIFIED", "a"], ["MODIFIED", "a"], ["DELETED", "a"]]


def test_wait_sees_what_is_true(sandbox: Sandbox, kubectl: Kubectl) -> None:
    sandbox.load([pod("a")])
    assert "condition met" in kubectl(
        "wait", "--for=jsonpath={.status.phase}=Pending", "pod/a", "--timeout=30s"
    )


def test_questions_about_the_server(kubectl: Kubectl) -> None:
    assert "Server Version: v1.36.0+sandbox" in kubectl("version")
    assert "priorityclasses" in kubectl("api-resources")
    assert "resource.k8s.io/v1\n" in kubectl("api-versions")
    assert kubectl("auth", "can-i", "create", "pods") == "yes\n"
    assert "kubernetes-admin" in kubectl("auth", "whoami")
    assert kubectl("get", "--raw", "/readyz") == "ok"
    assert "tolerationSeconds" in kubectl("explain", "pod.spec.tolerations")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["get", "pod", "none"], 'Error from server (NotFound): pods "none" not found'),
        (["get", "things"], 'the server doesn\'t have a resource type "things"'),
        (["get", "pods", "--field-selector", "spec.foo=x"], "field label not supported: spec.foo"),
        (["logs", "none"], 'pods "none" not found'),
    ],
    ids=["pod", "kind", "field", "logs"],
)
def test_errors_read_like_a_clusters(kubectl: Kubectl, words: list[str], message: str) -> None:
    assert message in kubectl(*words, code=1)


@pytest.mark.parametrize("verb", ["apply", "create", "delete", "diff"])
@pytest.mark.parametrize(
    ("version", "kind"),
    [("networking.k8s.io/v1", "Ingress"), ("apps/v1", "Foo"), ("v1", "Foo"), ("example.org/v1", "Widget")],
)
def test_a_kind_that_is_not_there_has_no_matches(
    kubectl: Kubectl, verb: str, version: str, kind: str
) -> None:
    manifest = f"{{apiVersion: {version}, kind: {kind}, metadata: {{name: x}}}}"
    said = kubectl(verb, "-f", "-", stdin=manifest, code=2 if verb == "diff" else 1)
    assert f'no matches for kind "{kind}" in version "{version}"' in said


def test_the_older_openapi_explains_too(kubectl: Kubectl) -> None:
    said = kubectl("explain", "deployment.spec.template.spec", "--output=plaintext-openapiv2")
    assert "KIND:     Deployment" in said
    assert "containers\t<[]Object> -required-" in said
    assert "nodeSelector\t<map[string]string>" in said
