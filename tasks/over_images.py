"""Means over test images with intervals, from one value per image and seed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from vitgeom.bootstrap import bootstrap_interval
from vitgeom.seeding import generator_for


@dataclass(frozen=True)
class OverImages:
    """How intervals over images are made.

    Attributes:
        num_bootstrap: Resamples behind each.
        seed: Of the resamples.
        label: Of what is summarised; figures of different things are resampled independently.
    """

    num_bootstrap: int
    seed: int
    label: str

    def summary(self, by_seed: Sequence[Tensor], name: str) -> dict[str, Any] | None:
        """Return the mean over images of the mean over seeds with its interval, spread over images, and the mean of each seed; None where it is undefined.

        Args:
            by_seed: One value per image [n], NaN where it is undefined, for each seed.
            name: Of the figure.
        """
        values = torch.stack(list(by_seed)).double()
        defined = ~values.isnan().any(dim=0)
        if not defined.any():
            return None
        values = values[:, defined]
        mean = values.mean(dim=0)
        interval = bootstrap_interval(
            mean,
            num_resamples=self.num_bootstrap,
            generator=generator_for(self.seed, "metric", self.label, name),
        )
        return {
            "mean": interval.to_json(),
            "images": int(defined.sum()),
            "std": float(mean.std()) if len(mean) > 1 else 0.0,
            "seeds": values.mean(dim=1).tolist(),
        }


def of_one_seed(summary: Mapping[str, Any] | None) -> dict[str, Any] | None:
    """Return a figure over images in the form of those over images and seeds; there was one seed.

    Args:
        summary: With "mean", "images" and "std".
    """
    if summary is None:
        return None
    return {
        **{name: summary[name] for name in ("mean", "images", "std")},
        "seeds": [summary["mean"]["value"]],
    }
