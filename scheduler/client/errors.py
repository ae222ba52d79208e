"""What can go wrong between us and the API server, as a small tree.

::

    ClientError
    ├── AccessError          no usable kubeconfig, token or certificate
    ├── TransportError       no complete answer: refused, reset, timed out, TLS
    ├── MalformedAnswerError an answer that is not what the API promises
    └── ApiError             the server answered with a failure Status
        ├── BadRequestError 400   UnauthorizedError 401   ForbiddenError 403   NotFoundError 404
        ├── ConflictError 409     GoneError 410           InvalidError 422     TooManyRequestsError 429
        └── ServerError 5xx

Every message is one line fit for a user; none carries a header or a request body.
"""

import msgspec


class ClientError(Exception):
    """The root: catch this to survive anything the API server or the network does."""


class AccessError(ClientError):
    """The credentials or the address of the API server cannot be read."""


class MalformedAnswerError(ClientError):
    """An answer of the server does not parse."""


class TransportError(ClientError):
    """No complete answer arrived. The request may or may not have been carried out.

    ``refused``: no connection came about, hence the request was certainly not carried out. ``timed_out``: the server
    was silent for too long.
    """

    def __init__(self, message: str, *, refused: bool = False, timed_out: bool = False) -> None:
        super().__init__(message)
        self.refused = refused
        self.timed_out = timed_out


class ApiError(ClientError):
    """The server's answer was a failure.

    ``status``: HTTP status; ``reason``: Kubernetes' word (``AlreadyExists``), "" when absent; ``retry_after``: seconds
    that the server asks to wait, or None; ``causes``: the reasons in ``details.causes``.
    """

    def __init__(
        self,
        status: int,
        reason: str = "",
        message: str = "",
        retry_after: float | None = None,
        causes: tuple[str, ...] = (),
    ) -> None:
        super().__init__(message or f"the server answered {status} {reason}".rstrip())
        self.status = status
        self.reason = reason
        self.message = message
        self.retry_after = retry_after
        self.causes = causes


class BadRequestError(ApiError):
    """400."""


class UnauthorizedError(ApiError):
    """401: the server does not know who we are."""


class ForbiddenError(ApiError):
    """403: we may not do that."""


class NotFoundError(ApiError):
    """404."""


class ConflictError(ApiError):
    """409: the object has changed, or exists already (``reason == "AlreadyExists"``)."""


class GoneError(ApiError):
    """410: the resourceVersion or continue token is too old."""


class InvalidError(ApiError):
    """422: the object does not validate."""


class TooManyRequestsError(ApiError):
    """429."""


class ServerError(ApiError):
    """5xx."""


_BY_STATUS: dict[int, type[ApiError]] = {
    400: BadRequestError,
    401: UnauthorizedError,
    403: ForbiddenError,
    404: NotFoundError,
    409: ConflictError,
    410: GoneError,
    422: InvalidError,
    429: TooManyRequestsError,
}


class _Cause(msgspec.Struct):
    reason: str | None = None
    message: str | None = None


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: int | None = None
    causes: list[_Cause] | None = None


class _Status(msgspec.Struct):
    code: int | None = None
    reason: str | None = None
    message: str | None = None
    details: _Details | None = None


_decoder = msgspec.json.Decoder(_Status)
_MESSAGE_LIMIT = 2048


def api_error(status: int, body: bytes | msgspec.Raw, retry_after: float | None = None) -> ApiError:
    """The error for an answer with ``status`` and ``body`` (a Status object, or anything a proxy may say).

    ``status`` 0 takes the code from the body, as for the ERROR event of a watch.
    """
    try:
        parsed = _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        parsed = _Status(message=_one_line(bytes(body)))
    code = status or parsed.code or 500
    details = parsed.details or _Details()
    if retry_after is None and details.retry_after_seconds:
        retry_after = float(details.retry_after_seconds)
    causes = tuple(cause.reason or cause.message or "" for cause in details.causes or ())
    kind = _BY_STATUS.get(code, ServerError if code >= 500 else ApiError)
    message = _one_line((parsed.message or "").encode())
    return kind(code, parsed.reason or "", message, retry_after, causes)


def _one_line(text: bytes) -> str:
    lines = text[:_MESSAGE_LIMIT].decode(errors="replace").strip().splitlines()
    return " ".join(line.strip() for line in lines)


def resource_version_too_large(error: Exception) -> bool:
    """Whether the server does not know that resourceVersion *yet*, as after it was restored from a backup.

    Upstream: ``isTooLargeResourceVersionError`` in client-go's tools/cache/reflector.go.
    """
    if not isinstance(error, ApiError):
        return False
    return "ResourceVersionTooLarge" in error.causes or "Too large resource version" in error.message
