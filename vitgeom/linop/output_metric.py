"""What may measure differences at a decoder's output.   M = outputs, M' = rows of the metric."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.agreement import check_operator, listed
from vitgeom.linop.dense import DenseOperator
from vitgeom.linop.protocol import LinearOperator


def as_metric(output_metric: object, output: Float[Tensor, " m"]) -> LinearOperator | None:
    """Return L as an operator on the output, None for the identity.

    Args:
        output_metric: A matrix [M', M], an operator M' x M, or None.
        output: Of the decoder.

    Raises:
        InvalidInput: It is no operator, or its columns, dtype or device are not the output's.
    """
    if output_metric is None:
        return None
    metric = (
        DenseOperator(output_metric)
        if isinstance(output_metric, Tensor)
        else check_operator(output_metric, name="output_metric")
    )
    if metric.shape[1] != output.numel():
        raise InvalidInput(
            f"output_metric is {listed(metric.shape)}, but the decoder has {output.numel()} outputs: columns must be outputs."
        )
    if metric.dtype != output.dtype or metric.device.type != output.device.type:
        raise InvalidInput(
            f"output_metric is {metric.dtype} on {metric.device}, features are {output.dtype} on {output.device}. "
            "Build it in their dtype on their device."
        )
    return metric
