"""Authentication and authorization reviews.

The sandbox knows the cluster's administrator, who may do everything, and whom `Access` knows.
"""

from __future__ import annotations

import hmac
from typing import Any

from scheduler.sandbox.access import Access

Object = dict[str, Any]
USER: Object = {"username": "kubernetes-admin", "groups": ["system:masters", "system:authenticated"]}
_EVERYTHING = {"verbs": ["*"], "apiGroups": ["*"], "resources": ["*"]}
_EVERY_URL = {"verbs": ["*"], "nonResourceURLs": ["*"]}


def review(kind: str, body: Object, token: str, access: Access) -> Object:
    """The answered review.

    A TokenReview is authenticated when somebody in the table has its token, when it is the server's, or, as long as the server asks for none
    and the table is empty, always.
    """
    spec = body.get("spec") or {}
    access.note(spec)
    if kind == "TokenReview":
        status = _token_status(spec.get("token") or "", token, access)
    elif kind == "SelfSubjectReview":
        status = {"userInfo": USER}
    elif kind == "SelfSubjectRulesReview":
        status = {"resourceRules": [_EVERYTHING], "nonResourceRules": [_EVERY_URL], "incomplete": False}
    else:
        status = _access_status(spec, kind, access)
    return {**body, "metadata": body.get("metadata") or {}, "status": status}


def _token_status(given: str, expected: str, access: Access) -> Object:
    user = access.user(given)
    if user is not None:
        return {"authenticated": True, "user": user}
    everybody = not expected and access.knows_nobody
    if given and (everybody or hmac.compare_digest(given.encode(), expected.encode())):
        return {"authenticated": True, "user": USER}
    return {"authenticated": False, "user": {}, "error": "the token is not known"}


def _access_status(spec: Object, kind: str, access: Access) -> Object:
    groups = spec.get("groups") or ()
    known = (
        kind == "SelfSubjectAccessReview"
        or spec.get("user") == USER["username"]
        or "system:masters" in groups
    )
    if known:
        return {"allowed": True, "reason": "the sandbox lets its administrator do everything"}
    if access.allows(spec):
        return {"allowed": True}
    return {"allowed": False, "reason": f"the sandbox knows no user {spec.get('user', '')!r}"}
