"""The example of docs/extender-plugins.md works: tested by itself, served, mounted, and asked by schedulers."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib import import_module
from inspect import unwrap
from pathlib import Path
from typing import Any

import pytest
import yaml

from scheduler.framework.registry import Registry
from scheduler.sandbox import Sandbox
from tests.app.serve.processes import ROOT, Served, environment, served
from tests.builders import make_node, make_pod
from tests.extender.builders import recorded
from tests.scheduling.harness import Observer, Running, objects

EXAMPLE = ROOT / "examples" / "rack-plugins"
PLUGINS = ("--plugin", "rack_plugins:Licenses", "--plugin", "rack_plugins:RackRoom")
PATH = "/profiles/rack-extender"
LICENSED = make_pod("licensed").label("example.org/needs-license", "").doc()


@pytest.fixture(scope="module")
def serving() -> Iterator[Served]:
    """The line of the documentation."""
    words = ("-f", EXAMPLE / "cluster.yaml", "--config", EXAMPLE / "extender.yaml", *PLUGINS)
    with served(*words, path=EXAMPLE) as running:
        yield running


def test_its_own_tests_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "."],
        cwd=EXAMPLE,
        env=environment(EXAMPLE) | {"PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert done.returncode == 0, done.stdout
    assert "4 passed" in done.stdout


def test_its_package_offers_the_plugins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text())["project"]
    offered = project["entry-points"]["wharfinger.plugins"].values()
    registry = Registry()
    assert [registry.load(each) for each in offered] == ["Licenses", "RackRoom"]
    assert unwrap(registry.get("Licenses") or print) is import_module("rack_plugins").Licenses


def test_what_kube_scheduler_sent_is_judged_by_the_two_plugins_alone(serving: Served) -> None:
    status, answer = serving.ask(f"{PATH}/filter", recorded("001-cct-basic-filter"))
    assert (status, answer["NodeNames"]) == (200, ["node-a", "node-c", "node-b"])
    status, scores = serving.ask(f"{PATH}/prioritize", recorded("002-cct-basic-prioritize"))
    assert {each["Host"]: each["Score"] for each in scores} == {"node-a": 0, "node-b": 0, "node-c": 10}


def test_a_licensed_pod_gets_a_license(serving: Served) -> None:
    body = {"Pod": LICENSED, "NodeNames": ["node-a", "node-b", "node-c"]}
    answer = serving.ask(f"{PATH}/filter", body)[1]
    assert answer["NodeNames"] == ["node-b"]
    assert answer["FailedNodes"] == {"node-a": "node(s) had all licenses taken"}
    assert answer["FailedAndUnresolvableNodes"] == {"node-c": "node(s) had no licenses"}


def test_a_scheduler_that_calls_it_follows(serving: Served, tmp_path: Path) -> None:
    entry = yaml.safe_load((ROOT / "manifests/configurations/use-rack-extender.yaml").read_text())[
        "extenders"
    ][0]
    plain: dict[str, Any] = {
        key: value for key, value in entry.items() if key not in ("enableHTTPS", "tlsConfig")
    }
    pod = make_pod("licensed").label("example.org/needs-license", "").container({}, name="c", image="pause")
    with Sandbox() as sandbox:
        sandbox.load(objects(*(make_node(f"node-{letter}").capacity(cpu="4") for letter in "abc"), pod))
        observer = Observer(sandbox, tmp_path)
        running = Running(
            sandbox,
            tmp_path,
            config={"extenders": [plain | {"urlPrefix": serving.url + PATH, "httpTimeout": "20s"}]},
        )
        try:
            observer.wait_bound("licensed")
        finally:
            running.stop()
            observer.close()
        assert observer.node_of("licensed") == "node-b"


def test_what_kubectl_applies_mounts_and_enables_them() -> None:
    kubectl = Path(sys.executable).parent / "kubectl"
    done = subprocess.run([kubectl, "kustomize", EXAMPLE], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    found = {(each["kind"], each["metadata"]["name"]): each for each in yaml.safe_load_all(done.stdout)}
    assert (
        found["ConfigMap", "rack-plugins"]["data"]["rack_plugins.py"]
        == (EXAMPLE / "rack_plugins.py").read_text()
    )
    assert (
        found["ConfigMap", "wharfinger-extender"]["data"]["config.yaml"]
        == (EXAMPLE / "extender.yaml").read_text()
    )
    spec = found["Deployment", "wharfinger-extender"]["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert {"--plugin=rack_plugins:Licenses", "--plugin=rack_plugins:RackRoom"} <= set(container["args"])
    mounts = {each["name"]: each["mountPath"] for each in container["volumeMounts"]}
    assert {each["name"]: each["value"] for each in container["env"]}["PYTHONPATH"] == mounts["plugins"]
    assert {"name": "plugins", "configMap": {"name": "rack-plugins"}} in spec["volumes"]
