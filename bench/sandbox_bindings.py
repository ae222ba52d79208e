"""The sandbox API server under load: bindings per second from concurrent keep-alive clients, and how fast a large cluster loads.

The server is a process of its own and so is every client, as in real use. A client owns a share of the pods, keeps one connection, and binds
one pod after the other, waiting for each reply.
"""

from __future__ import annotations

import http.client
import json
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from urllib.parse import urlsplit

NODES = 5_000
PODS = 10_000
CLIENTS = 8
_SERVER = """
import sys, time
from scheduler.sandbox import Sandbox
from bench.sandbox_bindings import nodes, pods
started = time.perf_counter()
with Sandbox() as sandbox:
    sandbox.load(nodes(int(sys.argv[1])))
    sandbox.load(pods(int(sys.argv[2])))
    print(sandbox.url, time.perf_counter() - started, flush=True)
    sys.stdin.read()
"""


def nodes(count: int) -> list[dict[str, object]]:
    """Plain nodes."""
    capacity = {"cpu": "32", "memory": "128Gi", "pods": "110", "ephemeral-storage": "200Gi"}
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
    return [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {
                "name": f"node-{number:05d}",
                "labels": {
                    "kubernetes.io/hostname": f"node-{number:05d}",
                    "topology.kubernetes.io/zone": f"zone-{number % 3}",
                },
            },
            "status": {"capacity": capacity, "conditions": [ready]},
        }
        for number in range(count)
    ]


def pods(count: int) -> list[dict[str, object]]:
    """Plain pods."""
    container = {
        "name": "main",
        "image": "registry.example/app:1",
        "resources": {"requests": {"cpu": "100m", "memory": "200Mi"}},
    }
    return [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {
                "name": f"pod-{number:05d}",
                "namespace": "default",
                "labels": {"app": f"app-{number % 50}"},
            },
            "spec": {"containers": [container]},
        }
        for number in range(count)
    ]


def bind_share(url: str, first: int, step: int, count: int) -> int:
    """One client: bind every ``step``-th pod from ``first`` on. Returns how many replies were 201."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    headers = {"Content-Type": "application/json"}
    bound = 0
    for number in range(first, count, step):
        name = f"pod-{number:05d}"
        target = {"apiVersion": "v1", "kind": "Node", "name": f"node-{number % NODES:05d}"}
        body = json.dumps(
            {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": name}, "target": target}
        )
        connection.request("POST", f"/api/v1/namespaces/default/pods/{name}/binding", body, headers)
        reply = connection.getresponse()
        reply.read()
        bound += reply.status == 201
    connection.close()
    return bound


def list_seconds(url: str) -> float:
    """Seconds to list all nodes in pages of 500."""
    address = urlsplit(url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port)
    started, token = time.perf_counter(), ""
    while True:
        connection.request("GET", f"/api/v1/nodes?limit=500&continue={token}")
        page = json.loads(connection.getresponse().read())
        token = page["metadata"].get("continue", "")
        if not token:
            return time.perf_counter() - started


def run() -> list[tuple[str, float, str]]:
    """Start a server, load it, bind every pod. Returns (name, value, unit) rows; raises ``RuntimeError`` when a binding failed."""
    server = subprocess.Popen(
        [sys.executable, "-c", _SERVER, str(NODES), str(PODS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        url, load = (server.stdout.readline() if server.stdout else "").split()
        listed = list_seconds(url)
        with ProcessPoolExecutor(CLIENTS, mp_context=get_context("spawn")) as pool:
            warm = [pool.submit(list_seconds, url) for _ in range(CLIENTS)]
            [job.result() for job in warm]
            started = time.perf_counter()
            jobs = [pool.submit(bind_share, url, first, CLIENTS, PODS) for first in range(CLIENTS)]
            bound = sum(job.result() for job in jobs)
            seconds = time.perf_counter() - started
    finally:
        server.kill()
        server.wait()
    if bound != PODS:
        raise RuntimeError(f"only {bound} of {PODS} pods were bound")
    return [
        ("sandbox: load 5,000 nodes and 10,000 pods", float(load), "s"),
        ("sandbox: list 5,000 nodes in pages of 500, decoded", listed, "s"),
        (f"sandbox: bindings per second, {CLIENTS} clients", PODS / seconds, "1/s"),
    ]
