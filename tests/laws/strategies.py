"""Random clusters and pods for the laws: small vocabularies, so that things meet, and odd values, so that corners are met.

Everything is drawn as manifests and decoded as usual. Quantities include zero, fractions of a millicore, amounts that are
larger than any node, and amounts whose hundredfold overflows 64 bits. Strategies are built once: building is what is slow.
"""

from __future__ import annotations

from typing import Any

from hypothesis import settings
from hypothesis import strategies as st

from scheduler.apis.objects import Namespace, Node, Pod, convert
from scheduler.framework.catalog import Catalog
from scheduler.framework.node_table import NodeTable
from scheduler.framework.pods import ALL_ADDRESSES, PodInfo

LAW = settings(max_examples=60, deadline=None)

Document = dict[str, Any]

KEYS = ("zone", "rack", "node.kubernetes.io/unschedulable")
VALUES = ("a", "b", "7", "12", "")
HOSTNAME = "kubernetes.io/hostname"
POD_KEYS = ("app", "tier")
NAMESPACES = {"default": {"team": "red"}, "other": {}}
"""The namespaces that are known; pods may be in another one."""
NAMES = tuple(f"n{number}" for number in range(5))
IMAGES = ("app:v1", "app", "base@sha256:00", "registry:5000/tool")
RESOURCES = ("cpu", "memory", "ephemeral-storage", "example.com/gpu", "kubernetes.io/batt", "plain")
CPU = ("0", "1u", "100m", "0.5", "1", "3500m", "16", "90000000000000000")
BYTES = ("0", "1", "200Mi", "1Gi", "1.5Gi", "33e9", "100Pi")
UNITS = ("0", "1", "2", "8")
EFFECTS = ("NoSchedule", "NoExecute", "PreferNoSchedule")
FEATURES = ("Alpha", "RestartAllContainersOnContainerExits", "UserNamespacesHostNetworkSupport", "Zeta")
ADDRESSES = ("", ALL_ADDRESSES, "127.0.0.1", "10.0.0.1")

_pick = st.sampled_from
_UNITS_OF = {"cpu": CPU, "memory": BYTES, "ephemeral-storage": BYTES}


def _amounts(*names: str) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries({}, optional={name: _pick(_UNITS_OF.get(name, UNITS)) for name in names})


def _record(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Document]:
    return st.fixed_dictionaries(fields)


TAINTS = _record(key=_pick(KEYS), value=_pick(VALUES), effect=_pick(EFFECTS))
TOLERATIONS = _record(
    key=_pick(("", *KEYS)),
    operator=_pick(("", "Equal", "Exists", "Exists", "Lt", "Gt")),
    value=_pick(VALUES),
    effect=_pick(("", *EFFECTS)),
)
EXPRESSIONS = _record(
    key=_pick(KEYS),
    operator=_pick(("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "Odd")),
    values=st.lists(_pick(VALUES), max_size=2),
)
FIELDS = _record(
    key=_pick(("metadata.name", "metadata.name", "spec.other")),
    operator=_pick(("In", "NotIn")),
    values=_pick((*NAMES, "elsewhere", "")).map(lambda name: [name]),
)
TERMS = _record(matchExpressions=st.lists(EXPRESSIONS, max_size=2), matchFields=st.lists(FIELDS, max_size=1))
PORTS = _record(hostPort=_pick((0, 80, 443)), protocol=_pick(("", "TCP", "UDP")), hostIP=_pick(ADDRESSES))
CONTAINERS = _record(
    name=_pick(("c0", "c1")),
    image=_pick(IMAGES),
    ports=st.lists(PORTS, max_size=2),
    resources=_record(requests=_amounts(*RESOURCES)),
    restartPolicyRules=st.lists(_record(action=_pick(("Restart", "RestartAllContainers"))), max_size=1),
)
AFFINITY = _record(
    preferredDuringSchedulingIgnoredDuringExecution=st.lists(
        _record(weight=st.integers(0, 100), preference=TERMS), max_size=2
    )
)
REQUIRING_AFFINITY = _record(
    requiredDuringSchedulingIgnoredDuringExecution=_record(nodeSelectorTerms=st.lists(TERMS, max_size=2))
)
POD_METADATA = _record(
    namespace=_pick(("default", "default", "other", "lost")),
    labels=st.dictionaries(_pick(POD_KEYS), _pick(VALUES[:2]), max_size=2),
    deletionTimestamp=_pick(("", "", "", "2026-01-01T00:00:00Z")),
)
SELECTORS: tuple[Document | None, ...] = (
    None,
    {},
    {"matchLabels": {"app": "a"}},
    {"matchExpressions": [{"key": "app", "operator": "NotIn", "values": ["a"]}]},
    {"matchExpressions": [{"key": "tier", "operator": "Exists"}]},
)
LABEL_SELECTORS = _pick(SELECTORS)
UNREADABLE = {"matchExpressions": [{"key": "app", "operator": "Odd"}]}
NAMESPACE_SELECTORS = _pick(
    (
        None,
        None,
        {},
        {"matchLabels": {"team": "red"}},
        {"matchExpressions": [{"key": "team", "operator": "NotIn", "values": ["red"]}]},
        {"matchExpressions": [{"key": "team", "operator": "DoesNotExist"}]},
    )
)
AFFINITY_TERMS = _record(
    labelSelector=_pick((*SELECTORS * 5, UNREADABLE)),
    topologyKey=_pick((*KEYS[:2], HOSTNAME)),
    namespaces=_pick(([], [], ["other"], ["default", "lost"])),
    namespaceSelector=NAMESPACE_SELECTORS,
)
POD_AFFINITY = st.none() | _record(
    requiredDuringSchedulingIgnoredDuringExecution=st.lists(AFFINITY_TERMS, max_size=2),
    preferredDuringSchedulingIgnoredDuringExecution=st.lists(
        _record(weight=st.integers(0, 100), podAffinityTerm=AFFINITY_TERMS), max_size=2
    ),
)
SPREAD_CONSTRAINTS = _record(
    maxSkew=_pick((0, 1, 1, 2)),
    topologyKey=_pick((*KEYS[:2], HOSTNAME)),
    whenUnsatisfiable=_pick(("DoNotSchedule", "ScheduleAnyway")),
    labelSelector=LABEL_SELECTORS,
    minDomains=_pick((None, None, 0, 1, 3)),
    nodeAffinityPolicy=_pick((None, "Honor", "Ignore")),
    nodeTaintsPolicy=_pick((None, "Honor", "Ignore")),
    matchLabelKeys=st.lists(_pick(POD_KEYS), max_size=2),
)
POD_SPECS = _record(
    containers=st.lists(CONTAINERS, max_size=2),
    initContainers=st.lists(CONTAINERS, max_size=1),
    tolerations=st.lists(TOLERATIONS, max_size=2),
    nodeSelector=st.dictionaries(_pick(KEYS), _pick(VALUES), max_size=1),
    nodeName=_pick(("", "", "", *NAMES)),
    affinity=_record(
        nodeAffinity=AFFINITY | REQUIRING_AFFINITY, podAffinity=POD_AFFINITY, podAntiAffinity=POD_AFFINITY
    ),
    topologySpreadConstraints=st.lists(SPREAD_CONSTRAINTS, max_size=3),
    hostNetwork=st.booleans(),
    hostUsers=_pick((None, True, False)),
)
RUNNING_PODS = _record(
    metadata=POD_METADATA,
    spec=_record(
        containers=st.lists(CONTAINERS, min_size=1, max_size=1),
        affinity=_record(podAffinity=POD_AFFINITY, podAntiAffinity=POD_AFFINITY),
    ),
)
IMAGES_ON_NODE = _record(
    names=st.lists(_pick(IMAGES), max_size=2), sizeBytes=_pick((0, 10**6, 10**8, 5 * 10**9))
)
NODES = _record(
    labels=st.dictionaries(_pick((*KEYS, HOSTNAME)), _pick(VALUES), max_size=4),
    spec=_record(unschedulable=st.booleans(), taints=st.lists(TAINTS, max_size=2)),
    status=_record(
        allocatable=_amounts(*RESOURCES, "pods"),
        images=st.lists(IMAGES_ON_NODE, max_size=2),
        declaredFeatures=st.lists(_pick(FEATURES), max_size=3),
    ),
    pods=st.lists(RUNNING_PODS, max_size=2),
)


def _pod(uid: str, metadata: Document, spec: Document) -> PodInfo:
    metadata = {"name": "p", "namespace": "default", "uid": uid, **metadata}
    return PodInfo(convert(Pod, {"metadata": metadata, "spec": spec}))


def _cluster(nodes: dict[str, Document]) -> NodeTable:
    table = NodeTable()
    for name, node in nodes.items():
        metadata = {"name": name, "labels": node["labels"]}
        document = {"metadata": metadata, "spec": node["spec"], "status": node["status"]}
        row = table.set_node(convert(Node, document))
        for number, pod in enumerate(node["pods"]):
            table.add_pod(row, _pod(f"{name}/{number}", **pod))
    return table


PODS = st.builds(
    lambda labels, spec: _pod("pending", {"labels": labels}, spec),
    st.dictionaries(_pick(POD_KEYS), _pick(VALUES[:2]), max_size=2),
    POD_SPECS,
)
"""A pod with anything that the in-tree plugins read."""


def catalog() -> Catalog:
    """A catalog of the known namespaces."""
    made = Catalog()
    for name, labels in NAMESPACES.items():
        made.namespaces.put(convert(Namespace, {"metadata": {"name": name, "labels": labels}}))
    return made


CLUSTERS = st.dictionaries(_pick(NAMES), NODES, min_size=1).map(_cluster)
"""A table of a few nodes, each with a few pods."""

NEIGHBOURS = RUNNING_PODS.map(
    lambda pod: _pod("newcomer", {**pod["metadata"], "deletionTimestamp": ""}, pod["spec"])
)
"""A pod that is put on a node, and is not being deleted."""
