"""One line of the benchmark table: what was measured, against which peer, and whether the bar was met."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """A measured ratio beside its bar.

    Attributes:
        name: What was measured, with sizes.
        bar: The bar in words, for example ``"<= 1.03"``.
        peer: The peer's figure with its unit.
        ours: Our figure with its unit.
        ratio: The figure that the bar is about.
        passed: Whether the bar was met.
        runs: Number of paired repetitions behind the median.
        note: Conditions a reader needs (threads, start-up included or not, spread).
    """

    name: str
    bar: str
    peer: str
    ours: str
    ratio: float
    passed: bool
    runs: int
    note: str = ""


HEADER = "| measured | bar | peer | vitgeom | ratio | met | runs | note |\n|---|---|---|---|---|---|---|---|"


def table(rows: Iterable[Row]) -> str:
    """Return the rows as a Markdown table."""
    lines = [
        f"| {r.name} | {r.bar} | {r.peer} | {r.ours} | {_ratio(r)} | {_met(r)} | {r.runs} | {r.note} |"
        for r in rows
    ]
    return "\n".join([HEADER, *lines])


def _ratio(row: Row) -> str:
    return f"{row.ratio:.3g}" if row.peer else ""


def _met(row: Row) -> str:
    if row.bar == "reported":
        return ""
    return "yes" if row.passed else "**no**"
