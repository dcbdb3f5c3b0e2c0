"""95 % intervals for the mean of few positive samples.   K = samples."""

from __future__ import annotations

import math

from jaxtyping import Float
from scipy.stats import t as student
from torch import Tensor

from vitgeom.bootstrap import Interval

LEVEL = 0.95


def positive_mean_interval(
    samples_K: Float[Tensor, " k"], *, offset: float = 0.0, level: float = LEVEL
) -> Interval:
    """Return offset + mean with the interval offset + mean exp(+- t se / mean), t the quantile of Student with K - 1 degrees.

    Samples that are squared lengths are sums of chi-squares: positive and skewed to the right. The logarithm of their mean is nearer to normal than the
    mean itself, and the lower end stays above the part that is known. Few degrees of freedom in K samples make the spread itself uncertain; that is what t is for.

    Args:
        samples_K: Independent, >= 0; none or one means that the offset is all that is known.
        offset: A part that is exact.
        level: Coverage asked for.
    """
    wide = samples_K.double()
    if len(wide) < 2 or float(wide.mean()) <= 0:
        return Interval(offset, offset, offset)
    mean = float(wide.mean())
    stderr = math.sqrt(float(wide.var(unbiased=True)) / len(wide))
    ratio = math.exp(float(student.ppf((1 + level) / 2, len(wide) - 1)) * stderr / mean)
    return Interval(offset + mean, offset + mean / ratio, offset + mean * ratio)
