"""Lines to paste into a shell, and the request body that they send."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import msgspec

from scheduler.app.cli.demo.errors import DemoError
from scheduler.app.cli.demo.settings import HOST, Settings
from scheduler.client.errors import ClientError
from scheduler.client.resources import NODES
from scheduler.client.rest import Rest

GUEST: dict[str, Any] = {
    "metadata": {"name": "guest", "namespace": "default", "uid": "guest"},
    "spec": {
        "containers": [
            {
                "name": "main",
                "image": "registry.example.org/shop/web:2.3.1",
                "resources": {"requests": {"cpu": "2", "memory": "2Gi"}},
            }
        ]
    },
}
"""A pod that does not exist: what would become of it?"""


_BESIDE = Path(sys.executable).with_name("kubectl")


class _Meta(msgspec.Struct):
    name: str


class _Named(msgspec.Struct):
    metadata: _Meta


class _Names(msgspec.Struct):
    items: list[_Named]


def write_body(rest: Rest, path: Path) -> None:
    """Write ExtenderArgs for the guest and all nodes, in the form with node names. Raises DemoError."""
    try:
        answer = rest.request("GET", NODES.collection())
        names = [each.metadata.name for each in msgspec.json.decode(answer.body, type=_Names).items]
        path.write_bytes(msgspec.json.encode({"Pod": GUEST, "Nodes": None, "NodeNames": names}))
    except (ClientError, msgspec.DecodeError, OSError) as error:
        raise DemoError(f"{path} cannot be written: {error}") from None


def lines(settings: Settings, port: int) -> Sequence[str]:
    """The commands, with a comment above each group."""
    kubectl = f"{_kubectl()} --kubeconfig {settings.kubeconfig}"
    curl = f"curl -sk -H 'Content-Type: application/json' --data-binary @{settings.body}"
    base = f"https://{HOST}:{port}"
    return (
        "# the webhook, as a stock kube-scheduler calls it",
        f"{curl} {base}/filter",
        f"{curl} {base}/prioritize",
        f"# the cluster{'' if _has_kubectl() else ' (there is no kubectl here: make test installs one as .venv/bin/kubectl)'}",
        f"{kubectl} get pods -A -o wide",
        f"{kubectl} run guest --image=registry.example.org/shop/web:2.3.1 && {kubectl} get pod guest -o wide",
        f"{kubectl} uncordon general-c2 && {kubectl} get events -A",
        "# health and metrics",
        f"curl -sk '{base}/readyz?verbose'",
        f"curl -sk {base}/metrics",
    )


def _kubectl() -> str:
    """The user's own kubectl, else the one of this environment if there is one (``make test`` installs it)."""
    if shutil.which("kubectl") is None and _BESIDE.exists():
        return _short(_BESIDE)
    return "kubectl"


def _has_kubectl() -> bool:
    return shutil.which("kubectl") is not None or _BESIDE.exists()


def _short(path: Path) -> str:
    here = Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)
