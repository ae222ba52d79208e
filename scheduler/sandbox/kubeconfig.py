"""The kubeconfig of a sandbox."""

from __future__ import annotations

import base64
from typing import Any

import yaml


def kubeconfig(url: str, token: str = "", ca: str = "") -> str:
    """YAML text with one cluster, user and context called `sandbox`; `ca` is PEM text."""
    cluster: dict[str, Any] = {"server": url}
    if ca:
        cluster["certificate-authority-data"] = base64.b64encode(ca.encode()).decode()
    config = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "sandbox", "cluster": cluster}],
        "users": [{"name": "sandbox", "user": {"token": token} if token else {}}],
        "contexts": [{"name": "sandbox", "context": {"cluster": "sandbox", "user": "sandbox"}}],
        "current-context": "sandbox",
    }
    return yaml.safe_dump(config, sort_keys=False)
