"""From JSON bytes to typed objects, straight: no dicts in between.

Go treats ``null`` as the zero value everywhere, and API servers do send it (``"creationTimestamp": null``). Allowing None
in every field would put a check in front of every read, so the fast path decodes as typed, and only when msgspec meets a
``null`` is the document decoded loosely, stripped of its nulls and converted.
"""

from __future__ import annotations

from collections.abc import Hashable
from functools import lru_cache
from typing import Any, TypeVar

import msgspec

from scheduler.apis.objects.nulls import without_nulls

T = TypeVar("T")


class DecodeError(ValueError):
    """The bytes are not an object of the type asked for; the text names the place (``at `$.spec.nodeName` ``)."""


@lru_cache(maxsize=256)
def _decoder(kind: Hashable) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def decoder_of(kind: type[T]) -> msgspec.json.Decoder[T]:
    """The decoder of one type, built once."""
    decoder: msgspec.json.Decoder[T] = _decoder(kind)  # type: ignore[arg-type]  # types hash; mypy does not know it of type[T]
    return decoder


def decode(kind: type[T], raw: bytes | bytearray | memoryview | str | msgspec.Raw) -> T:
    """Decode one object.

    Raises:
        DecodeError: the bytes are no JSON, or a field is of the wrong type.
    """
    try:
        return decoder_of(kind).decode(raw)
    except msgspec.ValidationError as error:
        if "got `null`" not in str(error):
            raise DecodeError(str(error)) from error
        return convert(kind, msgspec.json.decode(raw))
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DecodeError(str(error)) from error


def convert(kind: type[T], document: Any) -> T:
    """An object from a decoded document (a manifest's dict, say), nulls taken for zero values as Go does.

    Raises:
        DecodeError: a field is of the wrong type.
    """
    try:
        return msgspec.convert(without_nulls(kind, document), kind)
    except msgspec.ValidationError as error:
        raise DecodeError(str(error)) from error
