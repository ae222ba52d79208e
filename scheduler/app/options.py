"""Options: what the command line asks for, checked, and laid over the configuration file.

::

    arguments --Options.parse--> Options --validate--> every error at once
                                    | configuration: the file (or the defaults) --apply_to--> the configuration in force

Precedence, in one place (``Options.apply_to``), as in kube-scheduler: with ``--config`` the deprecated flags do not count; the leader-election
flags win over the file when they are given; the outcome is validated again.
"""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self, TypeVar

from scheduler.apis import config as configuration
from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.apis.fielderror import quote
from scheduler.app import logs, metrics_policy
from scheduler.app.checks import (
    authentication_errors,
    extender_warnings,
    header_errors,
    header_warnings,
    serving_errors,
    serving_warnings,
    unmet_lookups,
    wharfinger_errors,
)
from scheduler.app.compatibility import Compatibility, compatibility
from scheduler.app.flags import Parsed, parse
from scheduler.app.flags.sections import (
    Authentication,
    Authorization,
    Deprecated,
    FeatureGates,
    Global,
    LeaderElection,
    Logs,
    MetricsFlags,
    Misc,
    SecureServing,
    Wharfinger,
)
from scheduler.app.flags.table import Section
from scheduler.features import Features

S = TypeVar("S", bound=Section)

_CLIENT_FIELDS = {
    "kubeconfig": "kubeconfig",
    "kube_api_content_type": "content_type",
    "kube_api_qps": "qps",
    "kube_api_burst": "burst",
}
_PROFILING_FIELDS = {"profiling": "enable_profiling", "contention_profiling": "enable_contention_profiling"}
_READ_AT_MOST = 16 << 20


@dataclass(frozen=True, slots=True)
class Loaded:
    """A configuration, or the lines that say why there is none; warnings in both cases."""

    config: KubeSchedulerConfiguration | None
    errors: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Options:
    """The flags by section, and what follows from them alone."""

    misc: Misc
    serving: SecureServing
    authentication: Authentication
    authorization: Authorization
    deprecated: Deprecated
    leader_election: LeaderElection
    metrics: MetricsFlags
    logs: Logs
    wharfinger: Wharfinger
    request: Global
    compatibility: Compatibility
    parsed: Parsed

    @classmethod
    def parse(cls, arguments: Sequence[str], *, program: str = "wharfinger") -> tuple[Self, tuple[str, ...]]:
        """The options of a command line without the program's name, and the usage errors; with errors the options mean nothing."""
        parsed = parse(arguments)
        errors = parsed.errors
        if not errors and any(parsed.positional):
            words = " ".join(map(quote, parsed.positional))
            errors = (f"{quote(program)} does not take any arguments, got [{words}]",)
        options = cls(
            misc=_section(Misc, parsed),
            serving=_section(SecureServing, parsed),
            authentication=_section(Authentication, parsed),
            authorization=_section(Authorization, parsed),
            deprecated=_section(Deprecated, parsed),
            leader_election=_section(LeaderElection, parsed),
            metrics=_section(MetricsFlags, parsed),
            logs=_section(Logs, parsed),
            wharfinger=_section(Wharfinger, parsed),
            request=_section(Global, parsed),
            compatibility=compatibility(_section(FeatureGates, parsed)),
            parsed=parsed,
        )
        return options, errors

    @property
    def features(self) -> Features:
        """The feature gates in force."""
        return self.compatibility.features

    def changed(self, flag: str) -> bool:
        """Whether a flag, named with dashes, was given."""
        return flag in self.parsed.changed

    def validate(self) -> tuple[str, ...]:
        """Everything that is wrong with the options themselves, one line each; the configuration is checked by ``configuration``."""
        errors: list[object] = [*self.compatibility.errors]
        errors += logs.validate(self.logs, self.features)
        errors += serving_errors(self.serving)
        errors += header_errors(self.authentication, self.features)
        if self.serving.secure_port:
            errors += authentication_errors(self.authentication, self.authorization)
        errors += metrics_policy.errors(self.metrics)
        errors += wharfinger_errors(self.wharfinger)
        if self.wharfinger.reload and not self.misc.config:
            errors.append("--reload needs --config: there is no file to look at")
        return tuple(map(str, errors))

    def warnings(self) -> tuple[str, ...]:
        """What the user should know: unknown gates, what is missing for authentication."""
        found = [*self.compatibility.warnings]
        if self.serving.secure_port:
            found += serving_warnings(self.serving)
            found += header_warnings(self.authentication)
            found += extender_warnings(self.wharfinger)
            found += unmet_lookups(self.authentication, self.authorization)
        return tuple(found)

    def apply_to(self, config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
        """The configuration with the flags laid over it; a pure function, the one place that knows what wins."""
        if not self.misc.config:
            client = dataclasses.replace(
                config.client_connection, **self._given(self.deprecated, _CLIENT_FIELDS)
            )
            config = dataclasses.replace(
                config, client_connection=client, **self._given(self.deprecated, _PROFILING_FIELDS)
            )
        names = {
            field.name: field.name.removeprefix("leader_elect_")
            for field in dataclasses.fields(LeaderElection)
        }
        election = dataclasses.replace(config.leader_election, **self._given(self.leader_election, names))
        return dataclasses.replace(config, leader_election=election)

    def configuration(self) -> Loaded:
        """The configuration in force: the file of ``--config`` or the defaults, with the flags laid over it, and every error in it.

        As in kube-scheduler, flags over the defaults are not validated when the configuration is only written (``--write-config-to``).
        """
        if not self.misc.config:
            config = self.apply_to(configuration.default(self.features))
            return Loaded(config) if self.misc.write_config_to else self._validated(config, ())
        try:
            text = _read(self.misc.config)
        except OSError as error:
            reason = error.strerror.lower() if error.strerror else str(error)
            return Loaded(None, (f"open {self.misc.config}: {reason}",))
        loaded = configuration.load(text, source=self.misc.config, features=self.features)
        if loaded.config is None:
            return Loaded(None, tuple(map(str, loaded.errors)), tuple(loaded.warnings))
        return self._validated(self.apply_to(loaded.config), loaded.warnings)

    def _validated(self, config: KubeSchedulerConfiguration, warnings: Iterable[str]) -> Loaded:
        errors = tuple(map(str, configuration.validate(config, self.features)))
        return Loaded(None if errors else config, errors, tuple(warnings))

    def _given(self, section: Section, names: Mapping[str, str]) -> dict[str, Any]:
        """Values of the flags that were given, under other names."""
        return {
            name: getattr(section, field)
            for field, name in names.items()
            if self.changed(field.replace("_", "-"))
        }


def _section(kind: type[S], parsed: Parsed) -> S:
    return kind(**{flag.field: parsed.values[flag.name] for flag in kind.flags()})


def _read(path: str) -> bytes:
    """The file, cut off far behind what the reader of configurations accepts."""
    with Path(path).open("rb") as file:
        return file.read(_READ_AT_MOST)
