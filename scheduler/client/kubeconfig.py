"""Reading a kubeconfig file: its shape is checked here, so that a mistake is one clear line that names the place.

The ``kubernetes`` package does the rest (certificates, tokens, exec plugins), but its own messages for a malformed file
may quote whole users with their tokens; nothing of it is shown.
"""

import os
import shutil
from pathlib import Path
from typing import Any

import yaml
from urllib3.exceptions import LocationParseError
from urllib3.util import parse_url

from scheduler.client.errors import AccessError

SIZE_LIMIT = 4 << 20
"""Bytes of a kubeconfig that are read at most."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def read(path: Path, master: str = "") -> dict[str, Any]:
    """The parsed file, with the current context's server replaced by ``master`` when given.

    Raises AccessError naming the file and the place in it.
    """
    config = _parse(path)
    try:
        cluster = _current_cluster(config)
    except AccessError as error:
        raise AccessError(f"kubeconfig {path}: {error}") from None
    if master:
        cluster["server"] = master
    if not isinstance(cluster.get("server"), str) or not cluster["server"]:
        raise AccessError(f"kubeconfig {path}: the current context's cluster has no server")
    check_address(cluster["server"], "" if master else f"kubeconfig {path}: ")
    return config


def current_user(config: dict[str, Any]) -> dict[str, Any]:
    """The user entry of the current context of a file that :func:`read` accepted; empty when it names none."""
    context = _named(config, "contexts", "context", config["current-context"])
    name = context.get("user")
    return _named(config, "users", "user", name) if name else {}


def check_address(address: str, place: str = "") -> None:
    """Raises AccessError, which starts with ``place``, when it is no URL of a server."""
    if "@" in address.split("://", 1)[-1].partition("/")[0]:
        # Nothing would send them, and every line in the log that names the server would show them.
        raise AccessError(f"{place}the API server's address must not contain credentials")
    if not address.startswith(("http://", "https://")):
        raise AccessError(f"{place}the API server's address must start with http:// or https://: {address}")
    try:
        host = parse_url(address).host
    except LocationParseError:
        host = None
    if not host:
        raise AccessError(f"{place}the API server's address is malformed: {address}")


def check_plugin(path: Path, user: dict[str, Any]) -> None:
    """Look for the exec plugin of a user entry: the ``kubernetes`` package would log that it is missing, and go on.

    Raises AccessError naming the file and the plugin.
    """
    plugin = user.get("exec")
    command = plugin.get("command") if isinstance(plugin, dict) else None
    if not isinstance(command, str) or user.get("token") or user.get("tokenFile"):
        return
    if shutil.which(path.absolute().parent / command if os.sep in command else command) is None:
        raise AccessError(f"kubeconfig {path}: the exec plugin {command} is not there, or is no program")


def _parse(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            text = file.read(SIZE_LIMIT + 1)
    except OSError as error:
        raise AccessError(f"kubeconfig {path}: {(error.strerror or 'cannot be read').lower()}") from None
    if len(text) > SIZE_LIMIT:
        raise AccessError(f"kubeconfig {path}: larger than {SIZE_LIMIT} bytes")
    try:
        config = yaml.load(text, Loader=_Loader)  # noqa: S506 - a safe loader, the C one where it exists
    except yaml.YAMLError as error:
        raise AccessError(f"kubeconfig {path}: not valid YAML{_place(error)}") from None
    except ValueError:
        raise AccessError(f"kubeconfig {path}: not valid YAML") from None
    if not isinstance(config, dict):
        raise AccessError(f"kubeconfig {path}: expected a mapping with clusters, contexts and users")
    return config


def _place(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 1}, column {mark.column + 1})" if mark else ""


def _current_cluster(config: dict[str, Any]) -> dict[str, Any]:
    current = config.get("current-context")
    if not isinstance(current, str) or not current:
        raise AccessError("current-context is not set")
    context = _named(config, "contexts", "context", current)
    if context.get("user"):
        _named(config, "users", "user", context["user"])
    return _named(config, "clusters", "cluster", context.get("cluster"))


def _named(config: dict[str, Any], section: str, key: str, name: object) -> dict[str, Any]:
    """The ``key`` mapping of the entry called ``name`` in one of the three lists."""
    entries = config.get(section)
    if not isinstance(entries, list):
        raise AccessError(f"{section}: expected a list")
    for entry in entries:
        if isinstance(entry, dict) and entry.get("name") == name:
            value = entry.get(key)
            if not isinstance(value, dict):
                raise AccessError(f'{section}["{name}"].{key}: expected a mapping')
            return value
    raise AccessError(f'{section}: no entry named "{name}"')
