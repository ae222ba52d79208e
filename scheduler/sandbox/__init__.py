"""An in-memory Kubernetes API server: real HTTP, real watch and conflict semantics, for tests, demonstrations and `wharfinger sandbox`."""

from scheduler.sandbox.sandbox import Sandbox

__all__ = ["Sandbox"]
