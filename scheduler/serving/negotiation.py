"""Content negotiation of the z-pages: which representation an ``Accept`` header asks for.

Structured forms are versioned by parameters of the media type, ``application/json;v=v1beta1;g=config.k8s.io;as=Statusz``; plain text has
none. A client that names no version gets no structured form: it would not know what it reads. (apiserver's ``negotiation``, with the
restrictions of ``statusz`` and ``flagz``.)
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

JSON = "application/json"
YAML = "application/yaml"
PLAIN = "text/plain"
OFFERED = (JSON, YAML, PLAIN)
"""In the order of preference, as error messages list them."""
_TARGET = ("g", "v", "as")


@dataclass(frozen=True, slots=True)
class Clause:
    """One alternative of an ``Accept`` header."""

    media_type: str
    quality: float = 1.0
    parameters: Mapping[str, str] = field(default_factory=dict)

    def matches(self, offered: str) -> bool:
        """Whether the media type is this one; wildcards match whole types and everything."""
        kind = offered.partition("/")[0]
        return self.media_type in (offered, f"{kind}/*", "*/*")

    @property
    def target(self) -> tuple[str, ...]:
        """Group, version and kind that the answer shall have; empty when none is asked for."""
        if not any(name in self.parameters for name in _TARGET):
            return ()
        return tuple(self.parameters.get(name, "") for name in _TARGET)


def negotiate(accept: str, group: str, versions: Sequence[str], kind: str) -> tuple[str, str] | None:
    """The media type and the version to answer with; the version of plain text is empty. None when nothing offered is acceptable."""
    if not accept.strip():
        return PLAIN, ""
    structured = {(group, version, kind): version for version in versions}
    for clause in clauses(accept):
        for offered in filter(clause.matches, OFFERED):
            if offered == PLAIN and not clause.target:
                return PLAIN, ""
            if offered != PLAIN and clause.target in structured:
                return offered, structured[clause.target]
    return None


def clauses(accept: str) -> list[Clause]:
    """The alternatives, the best first; malformed ones are passed over."""
    found = []
    for part in accept.split(","):
        name, *rest = (word.strip() for word in part.split(";"))
        pairs = (word.partition("=") for word in rest)
        parameters = {key.strip(): value.strip() for key, equals, value in pairs if equals and value}
        media_type = "*/*" if name == "*" else name
        if media_type.count("/") == 1:
            found.append(Clause(media_type, _quality(parameters.pop("q", "1")), parameters))
    return sorted(found, key=lambda clause: (-clause.quality, clause.media_type.count("*")))


def _quality(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return 0.0
