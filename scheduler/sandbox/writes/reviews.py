"""Authentication and authorization reviews. The sandbox knows one user, the cluster's administrator, who may do everything."""

from __future__ import annotations

import hmac
from typing import Any

Object = dict[str, Any]
USER: Object = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}
_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_URL = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def review(kind: str, body: Object, token: str) -> Object:
    """The answered review. A TokenReview is authenticated when its token is the server's, or any when the server asks for none."""
    spec = body.get("spec") or {}
    if kind == "TokenReview":
        status = _token_status(spec.get("token") or "", token)
    elif kind == "SelfSubjectReview":
        status = {"userInfo": USER}
    elif kind == "SelfSubjectRulesReview":
        status = {"resourceRules": [_EVERYTHING], "nonResourceRules": [_EVERY_URL], "incomplete": False}
    else:
        status = _access_status(spec, kind)
    return {**body, "metadata": body.get("metadata") or {}, "status": status}


def _token_status(given: str, expected: str) -> Object:
    if given and (not expected or hmac.compare_digest(given.encode(), expected.encode())):
        return {"authenticated": True, "user": USER}
    return {"authenticated": False, "user": {}, "error": "the token is not known"}


def _access_status(spec: Object, kind: str) -> Object:
    groups = spec.get("groups") or ()
    known = (
        kind == "SelfSubjectAccessReview"
        or spec.get("user") == USER["username"]
        or "system:masters" in groups
    )
    if known:
        return {"allowed": True, "reason": "the sandbox lets its administrator do everything"}
    return {"allowed": False, "reason": f"the sandbox knows no user {spec.get('user', '')!r}"}
