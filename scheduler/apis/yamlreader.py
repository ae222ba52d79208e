"""YAML as Kubernetes reads it: safe types only, timestamps stay text, duplicate keys are refused, and no document may explode.

Aliases let a small text describe an enormous value. The expanded size is computed on the node graph before anything is built; what is too large
or contains itself is refused.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import yaml

_MAX_VALUES = 10_000_000
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class _Loader(yaml.CSafeLoader):
    """The safe C loader without timestamps."""

    yaml_implicit_resolvers = {
        letter: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for letter, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
    }


class YamlError(ValueError):
    """Text that is not the YAML we accept; `line` counts from 1."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


def documents(text: bytes | str) -> Iterator[tuple[int, Any]]:
    """Every document that is not empty, with the line it starts on. Raises `YamlError`."""
    try:
        loader = _Loader(text)
        while loader.check_node():
            node = loader.get_node()
            if node is not None:
                _size(node, {})
                value = loader.construct_document(node)
                if value is not None:
                    yield _line(node), value
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        raise YamlError(mark.line + 1 if mark else 1, error.problem or "not valid YAML") from None
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        if isinstance(error, YamlError):
            raise
        raise YamlError(1, f"not valid YAML: {str(error).splitlines()[0]}") from None


def _line(node: yaml.Node) -> int:
    return node.start_mark.line + 1 if node.start_mark else 1


def _size(node: yaml.Node, sizes: dict[int, int]) -> int:
    """The number of values in the expanded node. Raises `YamlError` for duplicates, cycles and explosions."""
    known = sizes.get(id(node))
    if known is not None:
        if known == 0:
            raise YamlError(_line(node), "the value contains itself")
        return known
    sizes[id(node)] = 0
    total = 1
    if isinstance(node, yaml.MappingNode):
        _check_keys(node)
        total += sum(1 + _size(value, sizes) for _, value in node.value)
    elif isinstance(node, yaml.SequenceNode):
        total += sum(_size(value, sizes) for value in node.value)
    if total > _MAX_VALUES:
        raise YamlError(_line(node), "the document expands to too many values")
    sizes[id(node)] = total
    return total


def _check_keys(node: yaml.MappingNode) -> None:
    seen = set()
    for key, _ in node.value:
        if not isinstance(key, yaml.ScalarNode):
            raise YamlError(_line(key), "a key must be text")
        if key.value in seen and key.value != "<<":
            raise YamlError(_line(key), f'key "{key.value}" already set in map')
        seen.add(key.value)
