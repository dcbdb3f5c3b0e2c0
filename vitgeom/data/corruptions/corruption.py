"""What a corruption is: a function of pixels and the strengths that it is applied with.

Families, names and most strengths are those of D. Hendrycks, T. Dietterich, Benchmarking Neural Network Robustness to Common
Corruptions and Perturbations, ICLR 2019; where ours differ, the family's file says so. Their pictures measure 224 x 224 pixels. Ours
have any size, so every length is a share of the shorter side (``per_side`` writes 3 pixels of theirs as 3 / 224): severity 3 looks
alike on 64 and on 224 pixels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from jaxtyping import Float

from vitgeom.errors import InvalidInput

SEVERITIES = (1, 2, 3, 4, 5)
REFERENCE_SIDE = 224

Pixels = Float[np.ndarray, "h w 3"]
"""RGB in 0..1. What a corruption returns is clipped to that range afterwards."""


@dataclass(frozen=True)
class Corruption:
    """One way to damage a picture.

    Attributes:
        name: Unique among all corruptions.
        apply: ``apply(pixels, generator=..., **strength)``; pure, draws from the generator alone, and draws the same whatever the
            strength where that can be, so that a picture under severity 4 is the one under severity 3 with more of the same.
        strengths: Parameter of ``apply`` -> its values at severity 1 to 5.
    """

    name: str
    apply: Callable[..., Pixels]
    strengths: Mapping[str, tuple[float, ...]]

    def __post_init__(self) -> None:
        for parameter, values in self.strengths.items():
            if len(values) != len(SEVERITIES):
                raise InvalidInput(
                    f"{parameter!r} of corruption {self.name!r} needs one value per severity, got {len(values)}."
                )
        object.__setattr__(self, "strengths", MappingProxyType(dict(self.strengths)))

    def strength(self, severity: object) -> dict[str, float]:
        """Return the parameters at one severity.

        Raises:
            InvalidInput: It is not one of 1 to 5.
        """
        place = require_severity(severity) - 1
        return {parameter: values[place] for parameter, values in self.strengths.items()}


def require_severity(severity: object) -> int:
    """Return a severity if it is one.

    Raises:
        InvalidInput: It is not one of 1 to 5.
    """
    if isinstance(severity, bool) or not isinstance(severity, int) or severity not in SEVERITIES:
        raise InvalidInput(
            f"severity must be one of 1, 2, 3, 4, 5 (mild to strong), got {severity!r}. Pictures without damage are in the clean dataset."
        )
    return severity


def per_side(*lengths: float) -> tuple[float, ...]:
    """Turn pixels of a picture of 224 into shares of the shorter side."""
    return tuple(length / REFERENCE_SIDE for length in lengths)


def side_of(pixels: Pixels) -> int:
    """Return the shorter side in pixels."""
    return min(pixels.shape[:2])
