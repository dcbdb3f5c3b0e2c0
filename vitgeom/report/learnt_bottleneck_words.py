"""What a bottleneck did to the effective rank, and at what rebuild error, in words."""

from __future__ import annotations

from vitgeom.report.learnt_bottleneck import RANKS, Bottleneck, Change
from vitgeom.report.learnt_rules import is_beyond, spelled_mean
from vitgeom.report.statement import Statement


def bottleneck_statement(found: Bottleneck) -> Statement:
    """Return whether the effective rank falls and at what rebuild error, with the ranks before and behind.

    Args:
        found: The bottleneck.
    """
    verdict = "lower" if lowers_rank(found) else "are NOT shown to lower"
    told = "; ".join(f"{words} {_change(found.figures[name])}" for name, words in RANKS.items())
    return Statement(
        f"Bottleneck: {found.latents:,} numbers in front of the decoder {verdict} the effective rank, at a rebuild error of "
        f"{spelled_mean(found.rebuild_error)}.",
        f"Before → behind it: {told}. The error is a share of the tokens' variance; the output is off by {spelled_mean(found.task_error)}.",
    )


def lowers_rank(found: Bottleneck) -> bool:
    """Say whether the participation ratio behind the bottleneck lies below that before it, intervals included.

    Args:
        found: The bottleneck.
    """
    change = found.figures["participation_ratio"]
    return change.before is not None and change.after is not None and is_beyond(change.before, change.after)


def _change(change: Change) -> str:
    return f"{spelled_mean(change.before)} → {spelled_mean(change.after)}"
