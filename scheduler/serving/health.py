"""``/healthz``, ``/livez``, ``/readyz``: named checks, answered as Kubernetes components answer (apiserver's ``server/healthz``).

The root of an endpoint says ``ok``, or everything with ``?verbose`` or when something fails; why it fails is only logged, since anybody
may read it. ``?exclude=NAME`` leaves a check out. ``/ENDPOINT/NAME`` asks one check and does give the reason.
"""

import logging
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from scheduler.verbosity import V2

logger = logging.getLogger(__name__)

Check = tuple[str, Callable[[], str | None]]
"""A name, and a function that answers why it fails, or nothing when all is well."""

Observer = Callable[[str, str, bool], None]
"""Told endpoint, check and whether it passed."""

PING: Check = ("ping", lambda: None)
"""Passes whenever the process can answer at all."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A status and a body; ``declared`` when the content type is set rather than guessed (it decides about ``nosniff``)."""

    status: int
    body: str
    declared: bool = True


def ignore_result(endpoint: str, check: str, passed: bool) -> None:
    """An observer that does nothing."""


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One of the three endpoints; no checks at all means `PING`."""

    name: str
    checks: Sequence[Check] = (PING,)
    observe: Observer = ignore_result

    def root(self, *, verbose: bool = False, exclude: Collection[str] = ()) -> Answer:
        """All checks together."""
        lines: list[str] = []
        failed: list[str] = []
        for name, check in self.checks or (PING,):
            if name in exclude:
                lines.append(f"[+]{name} excluded: ok\n")
                continue
            reason = check()
            self.observe(self.name, name, reason is None)
            lines.append(f"[+]{name} ok\n" if reason is None else f"[-]{name} failed: reason withheld\n")
            if reason is not None:
                failed.append(f"{name}: {reason}")
        lines += self._unknown(exclude)
        if failed:
            logger.log(V2, "%s check failed: %s", self.name, "; ".join(failed))
            return Answer(500, f"{''.join(lines)}{self.name} check failed\n")
        return Answer(200, f"{''.join(lines)}{self.name} check passed\n" if verbose else "ok")

    def single(self, name: str) -> Answer | None:
        """One check by name, or nothing when there is none of that name."""
        check = dict(self.checks or (PING,)).get(name)
        if check is None:
            return None
        reason = check()
        if reason is not None:
            return Answer(500, f"internal server error: {reason}\n")
        return Answer(200, "ok", declared=False)

    def _unknown(self, exclude: Collection[str]) -> list[str]:
        unknown = sorted(set(exclude) - {name for name, _ in self.checks or (PING,)})
        if not unknown:
            return []
        names = ", ".join(f'"{name}"' for name in unknown)
        return [f"warn: some health checks cannot be excluded: no matches for {names}\n"]
