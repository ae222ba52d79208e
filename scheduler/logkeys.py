"""Keys of log lines: which pod, which node, beside the message (klog's structured and contextual logging).

::

    with about(pod=ref("default/a")):
        logger.info("bound", extra=keys(node="n1"))     ->     "bound" pod="default/a" node="n1"

Whatever is logged inside ``about``, by plugins too, tells of whom, so that one ``grep`` finds everything about a pod.
"""

import logging
from collections.abc import Mapping
from contextvars import ContextVar, Token
from typing import Final, NamedTuple

_ATTRIBUTE: Final = "keys"
_CONTEXT: ContextVar[Mapping[str, object]] = ContextVar("log keys", default={})  # noqa: B039  # never changed


class ObjectRef(NamedTuple):
    """An object of the cluster: ``namespace/name`` in text, an object with both in JSON."""

    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.namespace}/{self.name}" if self.namespace else self.name


def ref(full_name: str) -> ObjectRef:
    """The object that ``namespace/name``, or a name alone, stands for."""
    namespace, _, name = full_name.rpartition("/")
    return ObjectRef(namespace, name)


def keys(**values: object) -> dict[str, object]:
    """What ``extra=`` of a log call takes."""
    return {_ATTRIBUTE: values}


def keys_of(record: logging.LogRecord) -> Mapping[str, object]:
    """The keys of a record and of what this thread is about; its own come last and win."""
    own: Mapping[str, object] = getattr(record, _ATTRIBUTE, {})
    context = _CONTEXT.get()
    return {**context, **own} if context else own


class about:  # noqa: N801  # reads as what it is: with about(pod=...)
    """Lines of this thread carry these keys for as long as the block runs."""

    __slots__ = ("_token", "_values")

    def __init__(self, **values: object) -> None:
        self._values = values
        self._token: Token[Mapping[str, object]] | None = None

    def __enter__(self) -> None:
        self._token = _CONTEXT.set({**_CONTEXT.get(), **self._values})

    def __exit__(self, *_: object) -> None:
        if self._token is not None:
            _CONTEXT.reset(self._token)
