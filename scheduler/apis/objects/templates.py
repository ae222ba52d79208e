"""Workloads as makers of pods: how many, and of what form. One struct reads all of their kinds."""

from __future__ import annotations

import msgspec

from scheduler.apis.objects.meta import Base, Int32, ObjectMeta
from scheduler.apis.objects.pod import PodSpec
from scheduler.apis.objects.storage import PersistentVolumeClaim


class PodTemplateSpec(Base, frozen=True):
    """The form of the pods."""

    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: PodSpec = msgspec.field(default_factory=PodSpec)


class JobSpec(Base, frozen=True):
    """A job's, or what a cron job makes jobs of."""

    parallelism: Int32 | None = None
    template: PodTemplateSpec | None = None


class JobTemplate(Base, frozen=True):
    """A cron job's ``jobTemplate``."""

    spec: JobSpec = msgspec.field(default_factory=JobSpec)


class WorkloadSpec(Base, frozen=True):
    """Deployment, ReplicaSet, StatefulSet and ReplicationController have ``replicas``, Job has ``parallelism``, CronJob a ``jobTemplate``."""

    replicas: Int32 | None = None
    parallelism: Int32 | None = None
    template: PodTemplateSpec | None = None
    job_template: JobTemplate | None = None
    volume_claim_templates: tuple[PersistentVolumeClaim, ...] = ()


class Workload(Base, frozen=True):
    """A workload of any kind."""

    kind: str = ""
    metadata: ObjectMeta = msgspec.field(default_factory=ObjectMeta)
    spec: WorkloadSpec = msgspec.field(default_factory=WorkloadSpec)
    template: PodTemplateSpec | None = None
    """A PodTemplate has it at the top."""

    @property
    def pod_template(self) -> PodTemplateSpec | None:
        """The form of its pods."""
        job = self.spec.job_template
        return self.spec.template or self.template or (job.spec.template if job else None)

    @property
    def pods_wanted(self) -> int:
        """How many pods it runs at a time; 1 where it does not say."""
        job = self.spec.job_template
        for wanted in (self.spec.replicas, self.spec.parallelism, job.spec.parallelism if job else None):
            if wanted is not None:
                return max(0, wanted)
        return 1
