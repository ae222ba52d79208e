"""Samples as ``profile.proto``, the format of ``go tool pprof`` and speedscope.

The message types are declared here as a table, in the numbers of the published definition, and handed to ``protobuf``, which encodes.
Strings, functions and locations are kept once each and named by their index.
"""

import gzip
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

from scheduler.serving.pprof.sampler import PERIOD_NANOSECONDS, Line, Recording, Stack

_PACKAGE = "perftools.profiles"
_FIELD = descriptor_pb2.FieldDescriptorProto
_MESSAGES: Mapping[str, Mapping[str, tuple[int, str]]] = {
    "ValueType": {"type": (1, "int64"), "unit": (2, "int64")},
    "Sample": {"location_id": (1, "uint64*"), "value": (2, "int64*"), "label": (3, "Label*")},
    "Label": {"key": (1, "int64"), "str": (2, "int64"), "num": (3, "int64"), "num_unit": (4, "int64")},
    "Line": {"function_id": (1, "uint64"), "line": (2, "int64")},
    "Location": {
        "id": (1, "uint64"), "mapping_id": (2, "uint64"), "address": (3, "uint64"), "line": (4, "Line*"),
    },
    "Function": {
        "id": (1, "uint64"), "name": (2, "int64"), "system_name": (3, "int64"), "filename": (4, "int64"),
        "start_line": (5, "int64"),
    },
    "Profile": {
        "sample_type": (1, "ValueType*"), "sample": (2, "Sample*"), "location": (4, "Location*"),
        "function": (5, "Function*"), "string_table": (6, "string*"), "time_nanos": (9, "int64"),
        "duration_nanos": (10, "int64"), "period_type": (11, "ValueType"), "period": (12, "int64"),
    },
}  # fmt: skip
"""Field numbers and types by message; ``*``: repeated."""
_SCALARS = {"int64": _FIELD.TYPE_INT64, "uint64": _FIELD.TYPE_UINT64, "string": _FIELD.TYPE_STRING}


def cpu_profile(recording: Recording) -> bytes:
    """The recording by stack and thread: how often it was seen, and its CPU time."""
    builder = _Builder(("samples", "count"), ("cpu", "nanoseconds"))
    seen: Counter[tuple[Stack, str]] = Counter()
    cpu: Counter[tuple[Stack, str]] = Counter()
    for sample in recording.samples:
        seen[sample.stack, sample.thread] += 1
        cpu[sample.stack, sample.thread] += sample.cpu
    for (stack, thread), count in seen.items():
        builder.add(stack, (count, cpu[stack, thread]), thread)
    builder.profile.time_nanos = recording.started
    builder.profile.duration_nanos = recording.duration
    builder.value_type(builder.profile.period_type, "cpu", "nanoseconds")
    builder.profile.period = PERIOD_NANOSECONDS
    return builder.encode()


def thread_profile(stacks: Mapping[Stack, int], now: int) -> bytes:
    """How many threads are in each stack; ``now`` in nanoseconds since 1970. Go calls its like ``goroutine``."""
    builder = _Builder(("goroutine", "count"))
    for stack, count in stacks.items():
        builder.add(stack, (count,))
    builder.profile.time_nanos = now
    builder.value_type(builder.profile.period_type, "goroutine", "count")
    builder.profile.period = 1
    return builder.encode()


class _Builder:
    """A profile that is being put together."""

    def __init__(self, *sample_types: tuple[str, str]) -> None:
        self.profile = message_class("Profile")()
        self._strings: dict[str, int] = {}
        self._functions: dict[tuple[str, str, int], int] = {}
        self._locations: dict[Line, int] = {}
        self._string("")
        for kind, unit in sample_types:
            self.value_type(self.profile.sample_type.add(), kind, unit)

    def value_type(self, target: Any, kind: str, unit: str) -> None:
        """Fill in what is measured, and its unit."""
        target.type, target.unit = self._string(kind), self._string(unit)

    def add(self, stack: Stack, values: Iterable[int], thread: str = "") -> None:
        """One sample."""
        sample = self.profile.sample.add(
            location_id=[self._location(line) for line in stack], value=list(values)
        )
        if thread:
            sample.label.add(key=self._string("thread"), str=self._string(thread))

    def encode(self) -> bytes:
        """The file."""
        return gzip.compress(self.profile.SerializeToString())

    def _string(self, text: str) -> int:
        if text not in self._strings:
            self._strings[text] = len(self._strings)
            self.profile.string_table.append(text)
        return self._strings[text]

    def _location(self, line: Line) -> int:
        found = self._locations.get(line)
        if found is None:
            found = self._locations[line] = len(self._locations) + 1
            location = self.profile.location.add(id=found)
            location.line.add(function_id=self._function(line), line=line.line)
        return found

    def _function(self, line: Line) -> int:
        key = line[:3]
        found = self._functions.get(key)
        if found is None:
            found = self._functions[key] = len(self._functions) + 1
            name = self._string(line.function)
            self.profile.function.add(
                id=found,
                name=name,
                system_name=name,
                filename=self._string(line.file),
                start_line=line.first_line,
            )
        return found


@cache
def message_class(name: str) -> Any:
    """The class of one of the format's messages."""
    pool = descriptor_pool.DescriptorPool()
    file = descriptor_pb2.FileDescriptorProto(name="profile.proto", package=_PACKAGE, syntax="proto3")
    for message, fields in _MESSAGES.items():
        declared = file.message_type.add(name=message)
        for field, (number, kind) in fields.items():
            _declare(declared, field, number, kind)
    pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(f"{_PACKAGE}.{name}"))


def _declare(message: Any, name: str, number: int, kind: str) -> None:
    scalar = _SCALARS.get(kind.rstrip("*"))
    field = message.field.add(
        name=name,
        number=number,
        label=_FIELD.LABEL_REPEATED if kind.endswith("*") else _FIELD.LABEL_OPTIONAL,
        type=_FIELD.TYPE_MESSAGE if scalar is None else scalar,
    )
    if scalar is None:
        field.type_name = f".{_PACKAGE}.{kind.rstrip('*')}"
