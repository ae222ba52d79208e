"""Arguments -> values, by pflag's rules.

``--name=value``, ``--name value``, ``-v=4``, ``-v 4``, ``-v4``; underscores for dashes; a flag that can stand alone (a boolean) never takes the
next word; ``--`` ends the flags. Unlike pflag, reading goes on after an error, so that all of them are told at once.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from scheduler.app.flags.sections import SECTIONS
from scheduler.app.flags.table import Flag, Section


@dataclass(frozen=True, slots=True)
class Parsed:
    """What the arguments say.

    Attributes:
        values: by flag name, defaults included.
        changed: names of the flags that were given.
        positional: the other words.
        errors: one line each; then nothing else counts.
    """

    values: Mapping[str, Any]
    changed: frozenset[str] = frozenset()
    positional: tuple[str, ...] = ()
    errors: tuple[str, ...] = ()


@dataclass(slots=True)
class _Reader:
    flags: Mapping[str, Flag]
    short: Mapping[str, Flag]
    words: list[str]
    values: dict[str, Any]
    changed: set[str] = field(default_factory=set)
    positional: list[str] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    def read(self) -> None:
        """Take every word."""
        while self.words:
            word = self.words.pop(0)
            if word == "--":
                self.positional += self.words
                return
            if word.startswith("--"):
                self._long(word)
            elif word.startswith("-") and len(word) > 1:
                self._shorthands(word)
            else:
                self.positional.append(word)

    def _long(self, word: str) -> None:
        name, equals, value = word[2:].partition("=")
        if not name or name.startswith("-"):
            self.errors.append(f"bad flag syntax: {word}")
            return
        found = self.flags.get(name.replace("_", "-"))
        if found is None:
            self.errors.append(f"unknown flag: --{name}")
        elif equals:
            self._set(found, value)
        elif found.kind.bare:
            self._set(found, found.kind.bare)
        elif self.words:
            self._set(found, self.words.pop(0))
        else:
            self.errors.append(f"flag needs an argument: --{name}")

    def _shorthands(self, word: str) -> None:
        letters = word[1:]
        while letters:
            found = self.short.get(letters[0])
            if found is None:
                self.errors.append(f"unknown shorthand flag: '{letters[0]}' in {word}")
                return
            letters = self._shorthand(found, letters[1:], word)

    def _shorthand(self, found: Flag, rest: str, word: str) -> str:
        """Set one flag of ``-abc``; what of the word is left."""
        if rest.startswith("=") and len(rest) > 1:
            self._set(found, rest[1:])
        elif found.kind.bare:
            self._set(found, found.kind.bare)
            return rest
        elif rest:
            self._set(found, rest)
        elif self.words:
            self._set(found, self.words.pop(0))
        else:
            self.errors.append(f"flag needs an argument: '{found.short}' in {word}")
        return ""

    def _set(self, found: Flag, text: str) -> None:
        try:
            value = found.kind.parse(text)
        except ValueError as error:
            shown = f"-{found.short}, --{found.name}" if found.short else f"--{found.name}"
            self.errors.append(f'invalid argument "{text}" for "{shown}" flag: {error}')
            return
        if found.kind.repeats and found.name in self.changed:
            value = self.values[found.name] + value
        self.values[found.name] = value
        self.changed.add(found.name)


def parse(arguments: Sequence[str], sections: Iterable[type[Section]] = SECTIONS) -> Parsed:
    """Read a command line, without the program's name."""
    flags = [flag for section in sections for flag in section.flags()]
    reader = _Reader(
        {flag.name: flag for flag in flags},
        {flag.short: flag for flag in flags if flag.short},
        list(arguments),
        {flag.name: flag.default for flag in flags},
    )
    reader.read()
    return Parsed(reader.values, frozenset(reader.changed), tuple(reader.positional), tuple(reader.errors))
