"""Trials of a sweep over ranks as runs of their own in the experiment tracker, beside the cells of their study."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from tasks.tracking_record import CellRecord, Metric
from vitgeom.store.fingerprint import fingerprint

FIGURES = ("alignment", "captured", "ceiling", "parameters", "epochs")


def rank_records(cell: str, learnt: Mapping[str, Any] | None) -> Iterator[CellRecord]:
    """Yield one run per trial, with its learning curve (the step is the epoch) and its figures on the validation images.

    Args:
        cell: Name of the cell.
        learnt: What models learnt there; None where nobody asked.
    """
    for pair in [] if learnt is None else learnt["pairs"]:
        decoder = f"{pair['decoder']['name']}-layer{pair['decoder']['layer']}"
        ranks = pair["ranks"]
        for trial in [] if ranks is None else ranks["trials"]:
            sizes = {name: trial[name] for name in ("rank", "hidden")}
            yield CellRecord(
                name=f"{cell}: {decoder} rank {trial['rank']} hidden {trial['hidden']}",
                key=fingerprint([pair["origin"]["digest"], trial]),
                params=sizes,
                metrics=tuple(_metrics(trial)),
                tags={
                    "vitgeom.cell": cell,
                    "vitgeom.decoder": decoder,
                    "vitgeom.trial": trial["state"],
                    "vitgeom.best": str(sizes in ranks["best"]),
                    **({"vitgeom.problem": trial["problem"]} if trial["problem"] else {}),
                },
            )


def _metrics(trial: Mapping[str, Any]) -> Iterator[Metric]:
    for epoch, loss in enumerate(trial["curve"], start=1):
        if loss is not None:
            yield Metric("alignment_by_epoch", 1 - loss, epoch)
    for name in FIGURES:
        if trial[name] is not None:
            yield Metric(name, float(trial[name]))
