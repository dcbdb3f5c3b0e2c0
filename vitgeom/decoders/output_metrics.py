"""How a decoder's output is measured before it is diagnosed (B11 of the methods), by name.   M = outputs."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from torch import Tensor

from vitgeom.errors import UnknownName
from vitgeom.linop import LinearOperator
from vitgeom.linop.camera_metric import camera_pose_metric

EUCLIDEAN = "euclidean"

OUTPUT_METRICS: Mapping[str, Callable[[Tensor], LinearOperator | None]] = {
    EUCLIDEAN: lambda output: None,
    "so3": camera_pose_metric,
}
"""Name -> from the output at the features to L, None for the identity. ``so3``: poses [9], rotations as angles, radians and scene units alike."""


def output_metric(name: str, output: Tensor) -> LinearOperator | None:
    """Return L of a metric at an output; None for the identity.

    Args:
        name: A key of ``OUTPUT_METRICS``.
        output: The decoder's output at the features.

    Raises:
        UnknownName: There is no such metric.
        InvalidInput: The output is not what the metric measures.
    """
    if name not in OUTPUT_METRICS:
        raise UnknownName("output metric", name, OUTPUT_METRICS)
    return OUTPUT_METRICS[name](output)
