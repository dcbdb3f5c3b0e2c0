"""The study in a few lines: one row per cell, for the terminal, for Prefect's pages and for callers."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from flows.outcome import Outcome
from tasks.receipt import Receipt

HEADINGS = (
    "dataset × backbone",
    "last layer",
    "best by validation",
    "VFusion",
    "any layer",
    "errors",
    "recovered",
    "by luck",
)
LEGEND = (
    "Test accuracy of the last layer, of the layer that validation chose, of one classifier on all layers (VFusion, mean over seeds), and of "
    "whichever layer is right; of the last layer's errors, the share "
    "that earlier layers recover, and the most that guessing, shuffled predictions or refits of the last layer do. The report has the intervals."
)


@dataclass(frozen=True)
class Summary:
    """What became of each cell.

    Attributes:
        profile: Name of the profile.
        outcomes: One per cell, with the receipt of its probes or the reason why there is none.
        fused: Likewise, with the receipt of the comparison; a cell whose fusion failed still shows its probes.
    """

    profile: str
    outcomes: tuple[Outcome, ...]
    fused: tuple[Outcome, ...] = ()

    def rows(self) -> list[tuple[str, ...]]:
        """Return one row per finished cell under ``HEADINGS``; shares in percent."""
        fused = {outcome.cell.name: outcome.receipt for outcome in self.fused}
        return [
            _row(outcome.cell.name, outcome.receipt, fused=fused.get(outcome.cell.name))
            for outcome in self.outcomes
            if outcome.receipt
        ]

    def problems(self) -> list[tuple[str, str]]:
        """Return name and reason of everything that failed."""
        whole = [(outcome.cell.name, outcome.problem) for outcome in self.outcomes if outcome.problem]
        return whole + [
            (f"fusion of {outcome.cell.name}", outcome.problem) for outcome in self.fused if outcome.problem
        ]

    def lines(self) -> list[str]:
        """Return the rows as an aligned table, the failed cells with their reasons, and what the columns mean."""
        table = [HEADINGS, *self.rows()]
        widths = [max(len(row[column]) for row in table) for column in range(len(HEADINGS))]
        lines = ["  ".join(_aligned(row, widths)).rstrip() for row in table]
        failed = [f"{name}  FAILED  {problem}" for name, problem in self.problems()]
        return [*lines, *failed, *textwrap.wrap(LEGEND, width=110)]

    def markdown(self, *, page: str) -> str:
        """Return a heading, a link to the page (a path or URI) and the table."""
        rule = ["---"] + ["---:"] * (len(HEADINGS) - 1)
        table = [f"| {' | '.join(row)} |" for row in (HEADINGS, rule, *self.rows())]
        failed = [f"- **{name}** failed: {problem}" for name, problem in self.problems()]
        link = f"[{page}]({_as_link(page)})"
        return "\n".join([f"# {self.profile}", "", f"Report: {link}", "", *table, "", LEGEND, "", *failed])

    def to_json(self, *, page: str) -> dict[str, Any]:
        """Return plain JSON for whoever called the flow."""
        return {
            "profile": self.profile,
            "report": page,
            "cells": {outcome.cell.name: _told(outcome) for outcome in self.outcomes},
            "fusion": {outcome.cell.name: _told(outcome) for outcome in self.fused},
        }


def _told(outcome: Outcome) -> dict[str, Any]:
    return outcome.receipt.detail if outcome.receipt else {"failed": outcome.problem}


def _row(name: str, fitted: Receipt, *, fused: Receipt | None) -> tuple[str, ...]:
    found = fitted.detail
    best = f"{_percent(found['accuracy_best'])} (layer {found['best_layer'] + 1})"
    return (
        name,
        _percent(found["accuracy_last"]),
        best,
        _percent(None if fused is None else fused.detail["accuracy"].get("vfusion")),
        _percent(found["oracle"]),
        str(found["errors"]),
        _percent(found["r_any"]),
        _percent(found["r_any_luck"]),
    )


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"


def _aligned(row: Sequence[str], widths: Sequence[int]) -> list[str]:
    return [
        row[0].ljust(widths[0]),
        *(text.rjust(width) for text, width in zip(row[1:], widths[1:], strict=True)),
    ]


def _as_link(uri: str) -> str:
    return uri if "://" in uri else f"file://{uri}"
