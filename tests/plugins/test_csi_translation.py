"""In-tree volumes as their CSI drivers know them."""

from __future__ import annotations

import pytest

from scheduler.apis.objects import Volume, convert
from scheduler.plugins.helper.csi_translation import (
    CSISource,
    Untranslatable,
    in_tree_plugin,
    translated,
    translated_inline,
)
from tests.plugins.volumes import Document, ebs, gce, volume

EBS, PD, CINDER = "ebs.csi.aws.com", "pd.csi.storage.gke.io", "cinder.csi.openstack.org"
AZURE, PORTWORX = "disk.csi.azure.com", "pxd.portworx.com"
ZONE, BETA_ZONE = "topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone"
BAD_FORMAT = "failed to translate Kubernetes ID to EBS Volume ID Invalid format for AWS volume (%s)"


def azure(kind: str | None) -> Document:
    return {"azureDisk": {"diskName": "d", "diskURI": "/disks/d", "kind": kind}}


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        pytest.param(ebs("vol-1"), CSISource(EBS, "vol-1"), id="EBS"),
        pytest.param(ebs("anything"), CSISource(EBS, "anything"), id="EBS: no URL is taken as it is"),
        pytest.param(ebs("aws:///vol-1"), CSISource(EBS, "vol-1"), id="EBS: URL without a zone"),
        pytest.param(ebs("aws://us-east-1a/vol-1"), CSISource(EBS, "vol-1"), id="EBS: URL"),
        pytest.param(ebs("aws://z/v-1"), Untranslatable(BAD_FORMAT % "aws://z/v-1"), id="EBS: odd name"),
        pytest.param(
            ebs("aws://z/a/vol-1"), Untranslatable(BAD_FORMAT % "aws://z/a/vol-1"), id="EBS: odd path"
        ),
        pytest.param({"cinder": {"volumeID": "c"}}, CSISource(CINDER, "c"), id="Cinder"),
        pytest.param(azure(None), CSISource(AZURE, "/disks/d"), id="Azure disk"),
        pytest.param(
            azure("managed"), CSISource(AZURE, "/disks/d"), id="Azure disk: managed in small letters"
        ),
        pytest.param(
            azure("Shared"),
            Untranslatable("kind(Shared) is not supported in csi migration"),
            id="Azure: shared",
        ),
        pytest.param({"portworxVolume": {"volumeID": "p"}}, CSISource(PORTWORX, "p"), id="Portworx"),
        pytest.param({"azureFile": {"shareName": "s"}}, None, id="Azure file: never counted"),
        pytest.param({"vsphereVolume": {"volumePath": "p"}}, None, id="vSphere: never counted"),
        pytest.param({"csi": {"driver": "d", "volumeHandle": "h"}}, None, id="CSI itself"),
        pytest.param({}, None, id="nothing"),
    ],
)
def test_sources(source: Document, expected: CSISource | Untranslatable | None) -> None:
    assert translated(volume("pv", **source)) == expected
    assert translated_inline(convert(Volume, {"name": "v", **source})) == expected


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        pytest.param({}, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d", id="no zone"),
        pytest.param({ZONE: "z"}, "projects/UNSPECIFIED/zones/z/disks/d", id="zone"),
        pytest.param(
            {ZONE: "z", BETA_ZONE: "b"}, "projects/UNSPECIFIED/zones/b/disks/d", id="beta zone first"
        ),
        pytest.param(
            {ZONE: "z", BETA_ZONE: ""}, "projects/UNSPECIFIED/zones/z/disks/d", id="empty beta zone"
        ),
        pytest.param({ZONE: "us-a-1__us-a-2"}, "projects/UNSPECIFIED/regions/us-a/disks/d", id="region"),
        pytest.param({ZONE: "us-a-1__us-b-1"}, None, id="two regions"),
        pytest.param({ZONE: "a__b"}, None, id="zones of no region"),
    ],
)
def test_a_google_disk_is_known_by_its_zone(labels: dict[str, str], expected: str | None) -> None:
    found = translated(volume("pv", labels, **gce("d")))
    assert found == (
        Untranslatable("failed to get region from zones") if expected is None else CSISource(PD, expected)
    )


def test_a_google_disk_of_a_pod_has_no_zone() -> None:
    found = translated_inline(convert(Volume, gce("d")))
    assert found == CSISource(PD, "projects/UNSPECIFIED/zones/UNSPECIFIED/disks/d")


@pytest.mark.parametrize(
    ("source", "plugin"),
    [
        (gce("d"), "kubernetes.io/gce-pd"),
        (ebs("v"), "kubernetes.io/aws-ebs"),
        ({"cinder": {"volumeID": "c"}}, "kubernetes.io/cinder"),
        (azure(None), "kubernetes.io/azure-disk"),
        ({"azureFile": {"shareName": "s"}}, "kubernetes.io/azure-file"),
        ({"vsphereVolume": {"volumePath": "p"}}, "kubernetes.io/vsphere-volume"),
        ({"portworxVolume": {"volumeID": "p"}}, "kubernetes.io/portworx-volume"),
        ({"csi": {"driver": "d"}}, None),
    ],
)
def test_plugins(source: Document, plugin: str | None) -> None:
    assert in_tree_plugin(convert(Volume, source)) == plugin
    assert in_tree_plugin(volume("pv", **source).spec) == plugin
