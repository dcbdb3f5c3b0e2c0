"""What is known after an epoch.   n = held-out images."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class HeldOutFigure:
    """One figure over the held-out images.

    Attributes:
        mean: Over images where it is defined; None if it is nowhere.
        std: Their sample standard deviation; None below two of them.
        images: Where it is defined.
    """

    mean: float | None
    std: float | None
    images: int

    @classmethod
    def of(cls, values: Float[Tensor, " n"]) -> HeldOutFigure:
        """Summarise one value per image.

        Args:
            values: NaN where undefined.
        """
        defined = values[~values.isnan()].double()
        count = len(defined)
        return cls(
            mean=float(defined.mean()) if count else None,
            std=float(defined.std()) if count > 1 else None,
            images=count,
        )


@dataclass(frozen=True)
class EpochReport:
    """One epoch.

    Attributes:
        epoch: From 1.
        loss: Terms of the loss, means over the training images.
        figures: On the held-out images.
        selection: Mean of the figure that decides; None where it is undefined.
        best: No earlier epoch had as high a one.
        gradient_norm: Largest norm of a gradient before clipping.
    """

    epoch: int
    loss: Mapping[str, float]
    figures: Mapping[str, HeldOutFigure]
    selection: float | None
    best: bool
    gradient_norm: float

    def to_json(self) -> dict[str, Any]:
        """Return everything by name."""
        return asdict(self)

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> EpochReport:
        """Rebuild from :meth:`to_json`."""
        figures = {name: HeldOutFigure(**each) for name, each in data["figures"].items()}
        return cls(**{**data, "figures": figures})
