"""marshmallow fields that take what Go's JSON decoder takes, and nothing else.

Configuration is decoded by Kubernetes strictly and without conversions: `"4"` is no integer, `1` is no boolean, a field in
the wrong case does not exist, and an explicit null is the same as leaving the field out. marshmallow's own fields convert
generously, so these do not inherit from them. What stays marshmallow's is the walk: every fault of a whole file, each with
its path, in one pass.
"""

from __future__ import annotations

import base64
import binascii
import math
import struct
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Final, TypeVar

from marshmallow import RAISE, Schema, ValidationError, fields, post_load, pre_load

from scheduler.apis import duration
from scheduler.apis.fielderror import OMITTED, ErrorType, FieldError
from scheduler.apis.requirements import child

_T = TypeVar("_T")
_SCHEMA: Final = "_schema"
_UNKNOWN: Final = "unknown field"
_NO_DURATION: Final = "must be a duration such as 15s"
_MAX_FLOAT32: Final = struct.unpack(">f", b"\x7f\x7f\xff\xff")[0]


class GoField(fields.Field[_T]):
    """A field that looks at its value alone and raises `ValidationError` for what Go would not take."""

    def decode(self, value: Any) -> _T:
        """The decoded value."""
        raise NotImplementedError

    def _deserialize(self, value: Any, attr: str | None, data: Any, **kwargs: Any) -> _T:
        del attr, data, kwargs
        return self.decode(value)


class GoString(GoField[str]):
    """Text."""

    def decode(self, value: Any) -> str:
        if not isinstance(value, str):
            raise ValidationError("must be a string")
        return value


class GoBool(GoField[bool]):
    """true or false."""

    def decode(self, value: Any) -> bool:
        if not isinstance(value, bool):
            raise ValidationError("must be a boolean")
        return value


class GoInt(GoField[int]):
    """An integer of 32 or 64 bits."""

    def __init__(self, bits: int = 32, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._bits = bits

    def decode(self, value: Any) -> int:
        half = 1 << (self._bits - 1)
        if isinstance(value, bool) or not isinstance(value, int):
            raise ValidationError("must be an integer")
        if not -half <= value < half:
            raise ValidationError(f"must be an integer of {self._bits} bits")
        return value


class GoFloat32(GoField[float]):
    """A number, kept with the precision of 32 bits."""

    def decode(self, value: Any) -> float:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise ValidationError("must be a number")
        if not (math.isfinite(value) and abs(value) <= _MAX_FLOAT32):
            raise ValidationError("must be a number of 32 bits")
        return float(struct.unpack(">f", struct.pack(">f", value))[0])


class GoDuration(GoField[int]):
    """A Go duration such as `15s`, as nanoseconds. Where it is not optional, even null is a fault, as it is upstream."""

    def __init__(self, *, optional: bool = False, **kwargs: Any) -> None:
        super().__init__(allow_none=False, error_messages={"null": _NO_DURATION}, **kwargs)
        self.optional = optional

    def decode(self, value: Any) -> int:
        if not isinstance(value, str):
            raise ValidationError(_NO_DURATION)
        try:
            return duration.parse(value)
        except duration.DurationError as error:
            raise ValidationError(str(error)) from None


class GoBytes(GoField[bytes]):
    """Bytes, written in base64."""

    def decode(self, value: Any) -> bytes:
        if not isinstance(value, str):
            raise ValidationError("must be base64 text")
        try:
            return base64.b64decode(value.replace("\r", "").replace("\n", ""), validate=True)
        except binascii.Error:
            raise ValidationError("must be base64 text") from None


class GoList(GoField[tuple[Any, ...]]):
    """A list of one kind of item; a null item is the item's zero value."""

    def __init__(self, inner: fields.Field[Any], zero: Any, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._inner = inner
        self._zero = zero

    def decode(self, value: Any) -> tuple[Any, ...]:
        if not isinstance(value, list):
            raise ValidationError("must be a list")
        items, errors = [], {}
        for i, item in enumerate(value):
            try:
                items.append(self._inner.deserialize(self._zero if item is None else item))
            except ValidationError as error:
                errors[i] = error.messages
        if errors:
            raise ValidationError(errors)
        return tuple(items)


class GoSchema(Schema):
    """A struct: unknown fields refused, null fields dropped, the result made into `target`."""

    target: ClassVar[Any] = dict

    class Meta:
        """Strictness is upstream's."""

        unknown = RAISE

    error_messages = {"unknown": _UNKNOWN, "type": "must be a mapping"}

    @pre_load
    def _drop_nulls(self, data: Any, **_: Any) -> Any:
        if not isinstance(data, Mapping):
            return data
        keep = {
            f.data_key or name
            for name, f in self.fields.items()
            if isinstance(f, GoDuration) and not f.optional
        }
        return {key: value for key, value in data.items() if value is not None or key in keep}

    @post_load
    def _make(self, data: dict[str, Any], **_: Any) -> Any:
        return self.finish(data)

    def finish(self, data: dict[str, Any]) -> Any:
        """The value for the decoded fields. May raise `ValidationError`."""
        return self.target(**data)

    def on_bind_field(self, field_name: str, field_obj: fields.Field[Any]) -> None:
        """Name the wire key: camelCase of the attribute, unless the field says otherwise."""
        if field_obj.data_key is None:
            field_obj.data_key = camel(field_name)


def camel(name: str) -> str:
    """`min_candidate_nodes` -> `minCandidateNodes`."""
    head, *tail = name.split("_")
    return head + "".join(word.capitalize() for word in tail)


def structs(schema: type[GoSchema], **kwargs: Any) -> GoList:
    """A list of structs."""
    return GoList(fields.Nested(schema), {}, load_default=kwargs.pop("load_default", ()), **kwargs)


def strings() -> GoList:
    """A list of texts."""
    return GoList(GoString(), "", load_default=())


def field_errors(messages: Any, data: Any, path: str = "") -> Iterator[FieldError]:
    """marshmallow's nested messages as faults with paths, in the order of `data`, the tree that they are about."""
    if isinstance(messages, Mapping):
        position = {key: i for i, key in enumerate(data)} if isinstance(data, Mapping) else {}
        for key, inner in sorted(messages.items(), key=lambda item: position.get(item[0], -1)):
            if key == _SCHEMA:
                yield from field_errors(inner, data, path)
            elif isinstance(key, int):
                yield from field_errors(inner, _item(data, key), f"{path}[{key}]")
            else:
                yield from field_errors(inner, _item(data, key), child(path, key))
    elif isinstance(messages, list):
        for message in messages:
            yield from field_errors(message, data, path)
    elif messages == _UNKNOWN:
        yield FieldError(path, ErrorType.FORBIDDEN, OMITTED, _UNKNOWN)
    else:
        yield FieldError(path, ErrorType.INVALID, _shown(data), messages)


def _item(data: Any, key: Any) -> Any:
    try:
        return data[key]
    except (KeyError, IndexError, TypeError):
        return OMITTED


def _shown(data: Any) -> Any:
    """Long values do not help the reader of one line."""
    return OMITTED if isinstance(data, dict | list) and len(str(data)) > 200 else data
