"""Errors as the API speaks them: a `Status` object with a code, a reason and details.

Handlers raise `StatusError`; the router turns it into the reply. The wording follows apimachinery's `api/errors`, because clients
(and people) match on it: `pods "a" not found`, `Operation cannot be fulfilled on pods "a": ...`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from scheduler.apis.fielderror import FieldError


class StatusError(Exception):
    """An API error on its way to the client.

    `code` is the HTTP status, `reason` the machine-readable CamelCase word, `details` the Status' details, `retry_after` seconds for the
    header of the same name.
    """

    def __init__(
        self,
        code: int,
        reason: str,
        message: str,
        details: dict[str, Any] | None = None,
        retry_after: int | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.message = message
        self.details = details
        self.retry_after = retry_after

    def body(self) -> dict[str, Any]:
        """The `Status` object that a client receives."""
        details = dict(self.details or {})
        if self.retry_after is not None:
            details["retryAfterSeconds"] = self.retry_after
        status: dict[str, Any] = {
            "kind": "Status",
            "apiVersion": "v1",
            "metadata": {},
            "status": "Failure",
            "message": self.message,
            "reason": self.reason,
        }
        if details:
            status["details"] = details
        status["code"] = self.code
        return status


def _about(resource: str, group: str, name: str) -> dict[str, Any]:
    details = {"name": name, "group": group, "kind": resource}
    return {key: text for key, text in details.items() if text}


def qualified(resource: str, group: str) -> str:
    """`pods` or `deployments.apps`: how messages call a resource."""
    return f"{resource}.{group}" if group else resource


def not_found(resource: str, group: str, name: str) -> StatusError:
    message = f'{qualified(resource, group)} "{name}" not found'
    return StatusError(404, "NotFound", message, _about(resource, group, name))


def no_such_path() -> StatusError:
    return StatusError(404, "NotFound", "the server could not find the requested resource", {})


def already_exists(resource: str, group: str, name: str) -> StatusError:
    message = f'{qualified(resource, group)} "{name}" already exists'
    return StatusError(409, "AlreadyExists", message, _about(resource, group, name))


def conflict(resource: str, group: str, name: str, detail: str) -> StatusError:
    message = f'Operation cannot be fulfilled on {qualified(resource, group)} "{name}": {detail}'
    return StatusError(409, "Conflict", message, _about(resource, group, name))


MODIFIED = "the object has been modified; please apply your changes to the latest version and try again"


def forbidden(resource: str, group: str, name: str, detail: str) -> StatusError:
    message = f'{qualified(resource, group)} "{name}" is forbidden: {detail}'
    return StatusError(403, "Forbidden", message, _about(resource, group, name))


def bad_request(message: str) -> StatusError:
    return StatusError(400, "BadRequest", message)


def unauthorized() -> StatusError:
    return StatusError(401, "Unauthorized", "Unauthorized")


def method_not_allowed() -> StatusError:
    message = "the server does not allow this method on the requested resource"
    return StatusError(405, "MethodNotAllowed", message, {})


def not_acceptable(types: str) -> StatusError:
    return StatusError(406, "NotAcceptable", f"only the following media types are accepted: {types}")


def unsupported_media(types: str) -> StatusError:
    message = f"the body of the request was in an unknown format - accepted media types include: {types}"
    return StatusError(415, "UnsupportedMediaType", message)


def expired(message: str) -> StatusError:
    return StatusError(410, "Expired", message)


def too_large(message: str = "request body is larger than the limit") -> StatusError:
    return StatusError(413, "RequestEntityTooLarge", message)


def too_many_requests(
    message: str, causes: list[dict[str, str]], retry_after: int | None = None
) -> StatusError:
    return StatusError(429, "TooManyRequests", message, {"causes": causes}, retry_after)


def future_version(asked: int, current: int) -> StatusError:
    """504 for a resourceVersion that this server has not reached, with the cause that client-go looks for."""
    text = f"Too large resource version: {asked}, current: {current}"
    causes = [{"reason": "ResourceVersionTooLarge", "message": "Too large resource version"}]
    return StatusError(504, "Timeout", f"Timeout: {text}", {"causes": causes}, retry_after=1)


_REASONS = {
    "Required value": "FieldValueRequired",
    "Invalid value": "FieldValueInvalid",
    "Duplicate value": "FieldValueDuplicate",
    "Forbidden": "FieldValueForbidden",
    "Not found": "FieldValueNotFound",
    "Unsupported value": "FieldValueNotSupported",
    "Too long": "FieldValueTooLong",
    "Too many": "FieldValueTooMany",
}


def invalid(kind: str, group: str, name: str, errors: Iterable[FieldError]) -> StatusError:
    """422 with one cause per field error, worded `Pod "a" is invalid: [first, second]`."""
    causes = []
    for error in errors:
        text = str(error).removeprefix(f"{error.path}: ")
        reason = _REASONS.get(text.partition(":")[0], "FieldValueInvalid")
        causes.append({"reason": reason, "message": text, "field": error.path})
    lines = [f"{cause['field']}: {cause['message']}" for cause in causes]
    summary = lines[0] if len(lines) == 1 else f"[{', '.join(lines)}]"
    details = _about(kind, group, name) | {"causes": causes}
    return StatusError(422, "Invalid", f'{qualified(kind, group)} "{name}" is invalid: {summary}', details)
