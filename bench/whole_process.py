"""The whole process: a scheduler started by its command against the sandbox started by its command, real HTTP between them.

1,000 nodes and 5,000 pods are there before the scheduler starts. Measured: from the first pod that has a node to the last, and
how long the first one took from the start of the process.
"""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import urllib3
import yaml

Result = tuple[str, float, str]

NODES, PODS = 1_000, 5_000
DEADLINE_SECONDS = 300.0


def run() -> list[Result]:
    """Pods per second, and seconds to the first pod."""
    with tempfile.TemporaryDirectory() as folder:
        return _measure(Path(folder))


def _measure(folder: Path) -> list[Result]:
    manifest, kubeconfig, config = folder / "cluster.yaml", folder / "kubeconfig", folder / "config.yaml"
    manifest.write_text("\n---\n".join(map(json.dumps, _cluster())))
    with _process("sandbox", "--load", manifest, "--port", "0", "--kubeconfig", kubeconfig):
        url = _wait_for_url(kubeconfig)
        config.write_text(yaml.safe_dump(_configuration(kubeconfig)))
        started = time.monotonic()
        with _process("--config", config, "--secure-port", "0"):
            first, last = _watch(url)
    name = f"{NODES} nodes, {PODS} pods"
    return [
        (f"whole process, {name}: pods bound per second", (PODS - 1) / (last - first), "pods/s"),
        (f"whole process, {name}: first pod bound after", first - started, "s"),
    ]


def _configuration(kubeconfig: Path) -> dict[str, Any]:
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        # The default of 50 requests per second would be all that is measured.
        "clientConnection": {"qps": -1, "kubeconfig": str(kubeconfig)},
        "leaderElection": {"leaderElect": False},
    }


def _watch(url: str) -> tuple[float, float]:
    """When the first and the last pod were seen to have a node."""
    http = urllib3.PoolManager()
    bound: set[str] = set()
    first = 0.0
    query = f"{url}/api/v1/pods?watch=true&timeoutSeconds={DEADLINE_SECONDS:.0f}&resourceVersion=0"
    answer = http.request("GET", query, preload_content=False)
    for line in _lines(answer):
        pod = json.loads(line)["object"]
        if pod["spec"].get("nodeName"):
            first = first or time.monotonic()
            bound.add(pod["metadata"]["name"])
            if len(bound) == PODS:
                return first, time.monotonic()
    raise TimeoutError(f"only {len(bound)} of {PODS} pods were bound in {DEADLINE_SECONDS:.0f} s")


def _lines(answer: Any) -> Iterator[bytes]:
    rest = b""
    for chunk in answer.stream(1 << 16):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from lines


@contextmanager
def _process(*words: object) -> Iterator[None]:
    command = [sys.executable, "-m", "scheduler", *map(str, words)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as child:
        try:
            yield
        finally:
            child.terminate()


def _wait_for_url(kubeconfig: Path) -> str:
    deadline = time.monotonic() + DEADLINE_SECONDS
    while time.monotonic() < deadline:
        if kubeconfig.exists() and (document := yaml.safe_load(kubeconfig.read_text())):
            return str(document["clusters"][0]["cluster"]["server"])
        time.sleep(0.05)
    raise TimeoutError("the sandbox did not start")


def _cluster() -> Iterator[dict[str, Any]]:
    for number in range(NODES):
        yield {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"node-{number}", "labels": {"kubernetes.io/hostname": f"node-{number}"}},
            "status": {"allocatable": {"cpu": "4", "memory": "32Gi", "pods": "110"}},
        }
    resources = {"cpu": "100m", "memory": "500Mi"}
    container = {"name": "c", "image": "pause", "resources": {"requests": resources, "limits": resources}}
    for number in range(PODS):
        yield {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": f"pod-{number}", "namespace": "default"},
            "spec": {"containers": [container]},
        }
