"""By what factor a figure falls, over images that were measured twice.   n = images."""

from __future__ import annotations

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, percentile_interval, resample_counts, resample_number


def fall(
    before: Float64[Tensor, " n"], after: Float64[Tensor, " n"], *, num_resamples: int, generator: Generator
) -> Interval | None:
    """Return mean(before) / mean(after) with its 95 % percentile interval; both means come from the same resampled images.

    Args:
        before: One figure per image, NaN where undefined.
        after: The same images' figures afterwards.
        num_resamples: Of the bootstrap.
        generator: The only source of randomness.

    Returns:
        None where no image has both, or nothing is left afterwards.
    """
    pairs = torch.stack([before, after], dim=1)
    pairs = pairs[~pairs.isnan().any(dim=1)]
    if not len(pairs) or float(pairs[:, 1].sum()) == 0:
        return None
    chunks = resample_counts(len(pairs), num_resamples=resample_number(num_resamples), generator=generator)
    sums = torch.cat([counts @ pairs for counts in chunks])
    ratio = float(pairs[:, 0].sum() / pairs[:, 1].sum())
    return percentile_interval(ratio, sums[:, 0] / sums[:, 1], level=0.95)
