"""A function at one image: what operators and diagnoses want."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from torch import Tensor


@dataclass(frozen=True, eq=False)
class PointOf:
    """A function at one image, as operators want it: ``JacobianOperator(point, point.features)``.

    Attributes:
        name: How reports call it.
        layer: Blocks that have run before the features.
        features: The image's own, detached.
        function: Of any such features.
    """

    name: str
    layer: int
    features: Tensor
    function: Callable[[Tensor], Tensor]

    def __call__(self, features: Tensor) -> Tensor:
        """Return the output for any features.

        Args:
            features: Of the shape and dtype of the image's own.
        """
        return self.function(features)
