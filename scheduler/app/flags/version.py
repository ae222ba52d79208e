"""The version: what ``--version`` may say, and what is reported.

Wharfinger decides like one release of kube-scheduler and reports that release, as operators and NodeDeclaredFeatures expect.
"""

import re
from importlib import metadata

from scheduler.app.flags.values import Kind, parse_bool, show_bool

KUBERNETES_VERSION = "v1.36.2"
_SEMANTIC = re.compile(r"v([0-9]+\.[0-9]+\.[0-9]+)(-[0-9A-Za-z.-]+)?(\+[0-9A-Za-z.-]+)?")


def parse_version_request(text: str) -> str:
    """``true``, ``false``, ``raw``, or a version to report, of the same release."""
    if text == "raw":
        return text
    if not text.startswith("v"):
        return show_bool(parse_bool(text))
    match = _SEMANTIC.fullmatch(text)
    if match is None:
        raise ValueError(f'could not parse "{text}" as version')
    if f"v{match[1]}" != KUBERNETES_VERSION:
        raise ValueError(
            f'version "{text}" must match major/minor/patch of default version "{KUBERNETES_VERSION}"'
        )
    return text


VERSION_REQUEST = Kind("version", parse_version_request, bare="true")


def reported_version(request: str) -> str:
    """The version to report under a ``--version`` value."""
    return request if request.startswith("v") else KUBERNETES_VERSION


def version_text(request: str) -> str:
    """What ``--version`` prints: Kubernetes' line first, then Wharfinger's own."""
    return f"Kubernetes {reported_version(request)}\nWharfinger {metadata.version('wharfinger')}"
