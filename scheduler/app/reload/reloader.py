"""Reloader: the thread that loads the configuration again when it is asked to, or when the file is another.

::

    idle ── request(), or the file changed ──> load ── exchange ──> idle
      ▲                                          │ bad: told, counted
      ├──────────────────────────────────────────┘
      └── a minute later, once more, when all that was missing was an answer of the API server
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable, Iterable
from pathlib import Path

from scheduler.apis.config import KubeSchedulerConfiguration
from scheduler.app.build import ConfigurationError
from scheduler.app.config import Config
from scheduler.app.loading import StartupError, load_checked, placed
from scheduler.app.reload.exchange import Exchange, NotWatchedError
from scheduler.app.reload.fixed import keep_fixed
from scheduler.app.reload.watching import FileWatch
from scheduler.framework.profile import ProfileError

logger = logging.getLogger(__name__)

_LOOK_SECONDS = 1.0
_PATIENCE_SECONDS = 30.0
"""How long new kinds may take to be listed."""
_RETRY_SECONDS = 60.0
_JOIN_SECONDS = 3.0


class Reloader:
    """Loads again, one load at a time. Nothing happens before ``start``.

    Args:
        config: what the process was made of; its options name the file and say whether to look at it.
        exchange: puts a good configuration in force.
        now: monotonic seconds.
    """

    def __init__(
        self, config: Config, exchange: Exchange, *, now: Callable[[], float] = time.monotonic
    ) -> None:
        self._config = config
        self._options = config.options
        self._exchange = exchange
        self._now = now
        self._component = config.component
        self._asked = threading.Event()
        self._stopping = threading.Event()
        self._retry_at: float | None = None
        file = self._options.misc.config
        self._watch = FileWatch(Path(file)) if file and self._options.wharfinger.reload else None
        self._thread = threading.Thread(target=self._run, name="reload", daemon=True)

    @property
    def component(self) -> KubeSchedulerConfiguration:
        """The configuration in force."""
        return self._component

    def start(self) -> None:
        """Start the thread."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; a load that is waiting for the API server is given up."""
        self._stopping.set()
        self._asked.set()
        if self._thread.is_alive():
            self._thread.join(_JOIN_SECONDS)

    def request(self) -> None:
        """Load again, soon. Any thread may call it, but no signal handler: it takes a lock."""
        self._asked.set()

    def reload(self) -> bool:
        """Load again, now; False when the configuration before stays in force.

        Only for the thread of this object, or when it has not been started.
        """
        self._retry_at = None
        if not self._options.misc.config:
            logger.warning("there is nothing to reload: the flags are the whole configuration (no --config)")
            return False
        try:
            self._load()
        except StartupError as error:
            self._refuse(error.reasons)
        except ConfigurationError as error:
            self._refuse(placed(error.errors, self._options))
        except ProfileError as error:
            self._refuse(placed([error], self._options))
        except NotWatchedError as error:
            self._retry_at = self._now() + _RETRY_SECONDS
            self._refuse([error])
        except Exception:
            logger.exception("a bug ended the reload; the configuration before stays in force")
            self._config.metrics.reloaded("error")
        else:
            self._config.metrics.reloaded("success")
            return True
        return False

    def _load(self) -> None:
        loaded = load_checked(self._options, self._config.plugins)
        component, fixed = keep_fixed(self._component, loaded)
        given_up_at = self._now() + _PATIENCE_SECONDS
        self._exchange.put_in_force(
            self._component,
            component,
            lambda: self._asked.is_set() or self._now() >= given_up_at,
        )
        for path in fixed:
            logger.warning(
                "%s cannot change while the process runs: it stays as it was until the next start", path
            )
        what = "nothing in it is new" if component == self._component else "it is in force"
        self._component = component
        logger.info("The configuration was reloaded, %s file=%s", what, self._options.misc.config)

    def _refuse(self, reasons: Iterable[object]) -> None:
        self._config.metrics.reloaded("error")
        for reason in reasons:
            logger.error("%s", reason)
        logger.error("The configuration was not reloaded: the one before stays in force")

    def _run(self) -> None:
        if self._watch is not None and self._stale():
            self._asked.set()
        while not self._stopping.is_set():
            if self._due():
                self._asked.clear()
                self.reload()

    def _due(self) -> bool:
        """Wait until there is something to look at or to do; whether it is to load."""
        timeout = _LOOK_SECONDS if self._watch is not None else self._until_retry()
        if self._asked.wait(timeout):
            return not self._stopping.is_set()
        if self._retry_at is not None and self._now() >= self._retry_at:
            return True
        return self._watch is not None and self._watch.changed()

    def _until_retry(self) -> float | None:
        return None if self._retry_at is None else max(0.0, self._retry_at - self._now())

    def _stale(self) -> bool:
        """Whether the file was written to after it was read at start, and before it was watched."""
        loaded = self._options.configuration()
        return loaded.config != self._config.component
