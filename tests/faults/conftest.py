"""The fixtures of the scheduling tests: a sandbox, somebody who watches it, schedulers that end with the test."""

from tests.scheduling.conftest import api, observer, sandbox, scheduler

__all__ = ["api", "observer", "sandbox", "scheduler"]
