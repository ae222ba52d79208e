"""A flag is a field of a section: declared once, typed, parsed, printed and documented from that declaration."""

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from scheduler.app.flags.values import Kind

_KEY = "flag"
_ZERO = frozenset({"", "0", "0s", "false"})


@dataclass(frozen=True, slots=True)
class Flag:
    """One flag.

    Attributes:
        section: the title under which ``--help`` lists it.
        name: with dashes.
        field: the section's field that holds the value.
        kind, default, help: its type, its value when it is not given, what it does.
        short: a letter that stands for it.
        deprecated: kube-scheduler calls it so.
        effect: empty when it does what it says; else why it does nothing, for documentation and honesty.
    """

    section: str
    name: str
    field: str
    kind: Kind
    default: Any
    help: str
    short: str = ""
    deprecated: bool = False
    effect: str = ""

    @property
    def shown_default(self) -> str:
        """The default as ``--help`` prints it; empty for a zero value."""
        shown = self.kind.show(self.default)
        if shown in _ZERO or (shown == "[]" and self.kind.name == "strings"):
            return ""
        return f'"{shown}"' if self.kind.name == "string" else shown


def flag(kind: Kind, default: Any, text: str, *, short: str = "", effect: str = "") -> Any:
    """Declare a flag; its name is the field's, with dashes."""
    return dataclasses.field(default=default, metadata={_KEY: (kind, text, short, effect)})


@dataclass(frozen=True)
class Section:
    """The base of every section; ``title`` is what ``--help`` prints."""

    title: ClassVar[str] = ""
    deprecated: ClassVar[bool] = False

    @classmethod
    def flags(cls) -> tuple[Flag, ...]:
        """The section's flags, by name."""
        found = []
        for field in dataclasses.fields(cls):
            kind, text, short, effect = field.metadata[_KEY]
            name = field.name.replace("_", "-")
            found.append(
                Flag(cls.title, name, field.name, kind, field.default, text, short, cls.deprecated, effect)
            )
        return tuple(sorted(found, key=lambda flag: flag.name))

    @classmethod
    def flag(cls, field: str) -> Flag:
        """The flag that a field declares."""
        return next(flag for flag in cls.flags() if flag.field == field)
