"""The rules behind the words about learnt metrics: near its ceiling, beyond something else, a noisy target.

All of them err on the side of "not shown".
"""

from __future__ import annotations

from vitgeom.report.averaged import Averaged
from vitgeom.report.numbers import between

NEAR = 0.9
"""A figure is near its ceiling if its whole interval lies above this share of it."""
CLEAR = 0.9
"""A target is clear if two estimates of it agree this well, and little is lost by truncation if both targets do."""
UNDEFINED = "undefined"
RULES = (
    f"Near its ceiling: the whole 95 % interval lies above {100 * NEAR:.0f} % of it. Better than another one: the 95 % interval of the "
    "difference, image by image, excludes 0; of effective ranks, the intervals do not overlap. A target is "
    f"called noisy where two estimates of it agree to less than {CLEAR:g}. A model is compared with one noisy "
    "estimate alone, so a perfect one may lie above the agreement of two, at most at about its square root."
)


def is_near(found: Averaged, ceiling: Averaged) -> bool:
    """Say whether a figure comes near its ceiling.

    Args:
        found: The figure.
        ceiling: The most that can be asked of it, above zero.
    """
    return ceiling.mean.value > 0 and found.mean.low >= NEAR * ceiling.mean.value


def is_beyond(one: Averaged, other: Averaged) -> bool:
    """Say whether one figure lies above another one, intervals included.

    Args:
        one: The figure that may be larger.
        other: The figure that may be smaller.
    """
    return one.mean.low > other.mean.high


def is_ahead(lead: Averaged) -> bool:
    """Say whether a difference on the same images lies above zero, interval included.

    Args:
        lead: The difference.
    """
    return lead.mean.low > 0


def is_behind(lead: Averaged) -> bool:
    """Say whether it lies below zero.

    Args:
        lead: The difference.
    """
    return lead.mean.high < 0


def is_clear(agreement: Averaged) -> bool:
    """Say whether an agreement is so good that it hardly limits anything.

    Args:
        agreement: rho of two estimates, or of two targets.
    """
    return agreement.mean.value >= CLEAR


def spelled_mean(found: Averaged | None, *, missing: str = UNDEFINED) -> str:
    """Return ``0.93 (0.91 to 0.95)``.

    Args:
        found: The figure.
        missing: What to show for None.
    """
    return missing if found is None else between(found.mean.value, found.mean.low, found.mean.high)
