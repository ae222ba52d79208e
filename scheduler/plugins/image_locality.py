"""ImageLocality: likes nodes that have the pod's images already, the bigger the better.

An image counts with its size times the share of nodes that have it, so that a rare image does not draw every pod to one
node. Containers, init containers and image volumes all add up, an image that is named twice counts twice; the sum is brought
to 0 to 100 between 23 MB and 1000 MB per container.

Quirks: the size is the one that the first node reported. An image without a tag or digest means ``:latest``; names are not
normalized further. Image volumes add to the sum but not to the number of containers.

Upstream: ``plugins/imagelocality``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from scheduler.apis.objects import Pod
from scheduler.framework.cycle import Cycle
from scheduler.framework.facts import ImageState
from scheduler.framework.integers import quotient, truncated, wrapped
from scheduler.framework.interface import MAX_NODE_SCORE, Handle
from scheduler.framework.nodes import Nodes
from scheduler.framework.rejections import Column
from scheduler.plugins.helper.distinct import present

_MB: Final = 1024 * 1024
_LEAST: Final = 23 * _MB
_MOST_PER_CONTAINER: Final = 1000 * _MB


class ImageLocality:
    """Ranks nodes by the images that they have."""

    name: Final = "ImageLocality"

    def __init__(self, args: Any, handle: Handle) -> None:
        """Takes no arguments."""

    def score(self, cycle: Cycle, nodes: Nodes) -> Column:
        """int64[rows]: 0 to 100."""
        pod = cycle.pod
        images, places = present(nodes.image_set_ids, nodes.image_sets)
        found = np.zeros(len(images), np.int64)
        for name, value in _worth(pod, nodes.images, nodes.total).items():
            found += np.fromiter((name in names for names in images), np.bool_, len(images)) * np.int64(value)
        rated: Column = _rated(found, len(pod.spec.containers) + len(pod.spec.init_containers))[places]
        return rated


def normalized_name(image: str) -> str:
    """The image's name with its tag."""
    return image if image.rfind(":") > image.rfind("/") else f"{image}:latest"


def _worth(pod: Pod, known: Mapping[str, ImageState], nodes: int) -> dict[str, int]:
    """What each of the pod's images adds to a node that has it, in bytes."""
    spec = pod.spec
    names = Counter(
        normalized_name(image)
        for image in (
            *(container.image for container in (*spec.init_containers, *spec.containers)),
            *(volume.image.reference for volume in spec.volumes if volume.image),
        )
    )
    return {
        name: wrapped(times * truncated(float(known[name].size) * (float(known[name].nodes) / float(nodes))))
        for name, times in names.items()
        if name in known
    }


def _rated(found: Column, containers: int) -> Column:
    most = _MOST_PER_CONTAINER * containers
    # Not a clip: a pod without containers has less room above than below.
    bounded = np.where(found < _LEAST, _LEAST, np.minimum(found, most))
    return quotient((bounded - _LEAST) * MAX_NODE_SCORE, most - _LEAST)
