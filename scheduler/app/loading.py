"""The one way from options to a configuration that may be put in force; at start, and at every reload.

::

    options ──> file, flags laid over it, validation ──> what is asked of plugins that nobody has ──> the configuration
                      │ every error at once                        │ every error at once
                      └──────────────────> StartupError <──────────┘
"""

from __future__ import annotations

import logging
from collections.abc import Iterable

from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.app.build import ConfigurationError, check_profiles
from scheduler.app.options import Options
from scheduler.framework.registry import Registry

logger = logging.getLogger(__name__)


class StartupError(Exception):
    """The process cannot start, or go on, like this; ``reasons`` has a line for each thing that is wrong."""

    def __init__(self, reasons: Iterable[object]) -> None:
        self.reasons = tuple(map(str, reasons))
        super().__init__("; ".join(self.reasons))


def load_configuration(options: Options) -> KubeSchedulerConfiguration:
    """The configuration that the options ask for, found to be good; warnings are logged.

    Raises:
        StartupError: it is not.
    """
    loaded = options.configuration()
    for warning in loaded.warnings:
        logger.warning("%s", warning)
    if loaded.config is None or loaded.errors:
        raise StartupError(placed(loaded.errors, options))
    return loaded.config


def load_checked(options: Options, plugins: Registry) -> KubeSchedulerConfiguration:
    """The same, found to ask nothing of plugins that nobody has.

    Raises:
        StartupError: something is wrong.
    """
    component = load_configuration(options)
    try:
        check_profiles(component, plugins)
    except ConfigurationError as error:
        raise StartupError(placed(error.errors, options)) from error
    return component


def placed(errors: Iterable[object], options: Options) -> list[str]:
    """The errors with the file that they are in."""
    file = options.misc.config
    return [text if not file or file in text else f"{file}: {text}" for text in map(str, errors)]
