"""Points in time as the API server wants them written, in leases and in events."""

from datetime import UTC, datetime


def micro_time(moment: datetime) -> str:
    """Kubernetes' MicroTime: ``2026-01-02T03:04:05.000006Z``. ``moment`` must be aware."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
