"""Bound claims: their volumes decide where the pod may run."""

from __future__ import annotations

from typing import Any

import pytest

from scheduler.apis.objects import CSINode, convert
from scheduler.framework.status import Code
from tests.plugins.volume_binding.world import (
    BIND_CONFLICT,
    HOST,
    MISSING,
    NODE_CONFLICT,
    NOT_ENOUGH,
    ZONE,
    World,
    cluster,
    disk,
    held,
    sort_of,
    storage,
    wish,
    within,
    world,
)
from tests.plugins.volumes import Document, csi_driver, of_claim, pod_with

CSI_ZONE = "topology.ebs.csi.aws.com/zone"
BETA_ZONE, BETA_REGION = "failure-domain.beta.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/region"
POD = pod_with(of_claim("c"))


def term(*expressions: tuple[str, str, list[str]], fields: list[Document] | None = None) -> Document:
    found = [{"key": key, "operator": operator, "values": values} for key, operator, values in expressions]
    return {"matchExpressions": found, "matchFields": fields or []}


def terms(*found: Document) -> Document:
    return {"required": {"nodeSelectorTerms": list(found)}}


@pytest.mark.parametrize(
    ("reach", "reached"),
    [
        pytest.param(None, "n0 n1 n2", id="no affinity"),
        pytest.param({}, "n0 n1 n2", id="nothing required"),
        pytest.param(within(ZONE, "a"), "n0", id="one zone"),
        pytest.param(within(ZONE, "a", "b"), "n0 n1", id="two zones"),
        pytest.param(within(HOST, "n2"), "n2", id="a host"),
        pytest.param(terms(term((ZONE, "DoesNotExist", []))), "n2", id="no zone"),
        pytest.param(terms(term((ZONE, "NotIn", ["a"]))), "n1 n2", id="not that zone"),
        pytest.param(
            terms(term((ZONE, "In", ["a"])), term((HOST, "In", ["n2"]))), "n0 n2", id="alternatives"
        ),
        pytest.param(terms(term((ZONE, "In", ["a"]), (HOST, "In", ["n2"]))), "", id="both at once"),
        pytest.param(terms(), "", id="no term matches nothing"),
        pytest.param(terms(term()), "", id="an empty term matches nothing"),
        pytest.param(terms(term((ZONE, "Like", ["a"])), term((ZONE, "In", ["b"]))), "n1", id="a faulty term"),
        pytest.param(
            terms(term(fields=[{"key": "metadata.name", "operator": "In", "values": ["n1"]}])),
            "n0 n1 n2",
            id="names of nodes are not looked at",
        ),
    ],
)
def test_where_a_volume_is_reached(reach: Document | None, reached: str) -> None:
    made = world(cluster("a", "b", ""), held("c", "pv"), disk("pv", reach=reach, phase="Bound"))
    out_of_reach = {"n0", "n1", "n2"} - set(reached.split())
    assert made.verdicts(POD) == dict.fromkeys(sorted(out_of_reach), (NODE_CONFLICT,))


def test_a_missing_volume_rules_out_the_nodes_that_are_left() -> None:
    made = world(cluster("a", "b"), held("c", "pv"), held("d", "gone"), disk("pv", reach=within(ZONE, "a")))
    assert made.verdicts(pod_with(of_claim("c"), of_claim("d"))) == {"n0": (MISSING,), "n1": (NODE_CONFLICT,)}
    assert made.verdicts(pod_with(of_claim("d"), of_claim("c"))) == {"n0": (MISSING,), "n1": (MISSING,)}


def test_a_node_may_fail_for_a_bound_and_for_an_unbound_claim() -> None:
    made = world(
        cluster("a", "b"),
        held("c", "pv"),
        disk("pv", reach=within(ZONE, "a"), phase="Bound"),
        wish("d"),
        sort_of("local"),
        wish("e", of_class="made"),
        sort_of("made", "csi.example"),
        csi_driver("csi.example", storageCapacity=True),
        storage("s", "a", "100Gi"),
    )
    both = pod_with(of_claim("c"), of_claim("d"))
    assert made.verdicts(both) == {"n0": (BIND_CONFLICT,), "n1": (NODE_CONFLICT, BIND_CONFLICT)}
    short = pod_with(of_claim("c"), of_claim("e"))
    assert made.verdicts(short) == {"n1": (NODE_CONFLICT, NOT_ENOUGH)}


def migrated(zones: tuple[str, ...], plugins: str, **volume: Any) -> World:
    """Nodes with a CSI label for their zone; all but the last run the driver that took over these plugins."""
    nodes = cluster(*zones)
    for node in list(nodes.objects):
        labels = {**node.metadata.labels, CSI_ZONE: "csi-" + node.metadata.labels[ZONE]}
        nodes.set_node(convert(type(node), {"metadata": {"name": node.metadata.name, "labels": labels}}))
    annotation = {"storage.alpha.kubernetes.io/migrated-plugins": plugins}
    csi_nodes = [
        convert(CSINode, {"metadata": {"name": name, "annotations": annotation}}) for name in nodes.names[:-1]
    ]
    return world(nodes, held("c", "pv"), disk("pv", phase="Bound", **volume), *csi_nodes)


EBS = {"awsElasticBlockStore": {"volumeID": "vol-1"}}


@pytest.mark.parametrize(
    ("volume", "rejected"),
    [
        pytest.param({"reach": within(ZONE, "csi-a"), **EBS}, "n1 n2", id="zone, in the driver's words"),
        pytest.param({"reach": within(ZONE, "a"), **EBS}, "n0 n1", id="zone, in the old words"),
        pytest.param({"reach": within(BETA_ZONE, "csi-b"), **EBS}, "n0 n2", id="beta zone"),
        pytest.param({"metadata": {"labels": {ZONE: "csi-a__csi-b"}}, **EBS}, "", id="zones of a label"),
        pytest.param({"metadata": {"labels": {ZONE: " csi-b "}}, **EBS}, "n0", id="zone of a label"),
        pytest.param({"metadata": {"labels": {ZONE: "__"}}, **EBS}, "", id="a label without a zone"),
        pytest.param({"reach": within(HOST, "n0"), **EBS}, "n1 n2", id="no zone at all"),
        pytest.param(
            {"reach": within(HOST, "n0"), "metadata": {"labels": {ZONE: "csi-b"}}, **EBS},
            "n0 n1 n2",
            id="affinity and the zone of a label",
        ),
        pytest.param(
            {"reach": within(ZONE, "a"), "azureDisk": {"diskURI": "d"}}, "n1", id="a plugin without zones"
        ),
        pytest.param(
            {"reach": within(ZONE, "csi-a"), "vsphereVolume": {"volumePath": "d"}},
            "n0 n1 n2",
            id="a plugin that is not looked at",
        ),
    ],
)
def test_in_tree_volumes_where_a_driver_took_over(volume: Document, rejected: str) -> None:
    plugins = "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/vsphere-volume"
    made = migrated(("a", "b", "a"), plugins, **volume)
    assert made.verdicts(POD) == dict.fromkeys(rejected.split(), (NODE_CONFLICT,))


def test_a_beta_region_gets_its_present_name() -> None:
    reach = terms(term((BETA_ZONE, "In", ["csi-a"]), (BETA_REGION, "In", ["r"])))
    made = migrated(("a", "a"), "kubernetes.io/aws-ebs", reach=reach, **EBS)
    assert made.verdicts(POD) == {"n0": (NODE_CONFLICT,), "n1": (NODE_CONFLICT,)}
    node = made.nodes.objects[0]
    labels = {**node.metadata.labels, "topology.kubernetes.io/region": "r"}
    made.nodes.set_node(convert(type(node), {"metadata": {"name": "n0", "labels": labels}}))
    assert made.verdicts(POD) == {"n1": (NODE_CONFLICT,)}


def test_a_plugin_that_was_not_taken_over_keeps_its_words() -> None:
    made = migrated(("a", "b"), "kubernetes.io/gce-pd", reach=within(ZONE, "a"), **EBS)
    assert made.verdicts(POD) == {"n1": (NODE_CONFLICT,)}


def test_a_volume_that_cannot_be_translated_is_an_error_where_a_driver_took_over() -> None:
    source = {"awsElasticBlockStore": {"volumeID": "aws://a/disk-1"}}
    made = migrated(("a", "a"), "kubernetes.io/aws-ebs", reach=within(ZONE, "x"), **source)
    cycle, _ = made.start(pod_with(of_claim("c"), of_claim("c")))
    found = made.plugin.filter(cycle, made.nodes)
    assert found is not None
    message = (
        "could not translate pv: failed to translate Kubernetes ID to EBS Volume ID "
        "Invalid format for AWS volume (aws://a/disk-1)"
    )
    assert (found.status(0).code, found.status(0).reasons) == (Code.ERROR, (message,))
    assert found.status(1).reasons == (NODE_CONFLICT,)
