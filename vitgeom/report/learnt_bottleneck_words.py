"""What a bottleneck did to the effective rank, and at what rebuild error, in words."""

from __future__ import annotations

from vitgeom.report.learnt_bottleneck import RANKS, Bottleneck, Change
from vitgeom.report.learnt_rules import is_beyond, spelled_mean


def bottleneck_sentence(found: Bottleneck) -> str:
    """Return effective ranks before and behind the bottleneck, and the errors that this costs.

    Args:
        found: The bottleneck.
    """
    told = "; ".join(f"{words} {_change(found.figures[name])}" for name, words in RANKS.items())
    return (
        f"Bottleneck: {found.registers} registers × {found.width} = {found.latents:,} numbers. Effective rank before → behind it: {told}. Price: a rebuild "
        f"error of {spelled_mean(found.rebuild_error)} of the tokens' variance and an error of the output of {spelled_mean(found.task_error)}. "
        f"{_judged(found)}"
    )


def lowers_rank(found: Bottleneck) -> bool:
    """Say whether the participation ratio behind the bottleneck lies below that before it, intervals included.

    Args:
        found: The bottleneck.
    """
    change = found.figures["participation_ratio"]
    return change.before is not None and change.after is not None and is_beyond(change.before, change.after)


def _judged(found: Bottleneck) -> str:
    if lowers_rank(found):
        return "So fewer directions carry the task behind it; what is learnt there is the metric of the rebuilt features."
    return "So it is NOT shown to lower the effective rank (participation ratio)."


def _change(change: Change) -> str:
    return f"{spelled_mean(change.before)} → {spelled_mean(change.after)}"
