"""What every run of the tests prints at its end."""

from tests.conformance.summary import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]
