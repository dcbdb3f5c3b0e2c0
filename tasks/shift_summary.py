"""All evaluations of one cell in one record, with the mean over corruptions and severities.

n = test rows, M = methods, S = conditions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jaxtyping import Float64
from torch import Tensor

from tasks.receipt import Receipt
from tasks.shift_results import CLEAN, EVALUATION, batch_statistics, read_answers
from tasks.stored_results import json_bytes
from vitgeom.errors import InvalidInput
from vitgeom.fusion.under_shift import shift_scores
from vitgeom.seeding import generator_for
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root


@dataclass(frozen=True)
class ShiftSummary:
    """What a results folder keeps of one cell, and its receipt."""

    content: bytes
    receipt: Receipt


def summarise(evaluated: Sequence[Receipt], *, name: str, num_bootstrap: int, seed: int) -> ShiftSummary:
    """Gather the evaluations of one cell.

    The mean over corruptions takes each image with all of its conditions, so its intervals say how sure it is of these corruptions on other
    images, and nothing about other corruptions.

    Args:
        evaluated: Receipts of ``evaluate_shift``, at least one of a shifted test set; that of the clean test split, if it is among them, says
            what batch statistics cost there.
        name: Of the cell.
        num_bootstrap: Resamples behind each interval of the mean.
        seed: Decides them.

    Raises:
        InvalidInput: They are of different classifiers, none is of a shifted test set, or corrupted test sets have other samples than each other.
    """
    found = [(receipt, Root(receipt.uri).read_json(EVALUATION)) for receipt in evaluated]
    classifiers = {content["origin"]["fused"] for _, content in found}
    if len(classifiers) != 1:
        raise InvalidInput(
            f"evaluations of {name} must be of the same classifiers, got {len(classifiers)} kinds. Evaluate all of one cell."
        )
    clean = next((content for _, content in found if content["condition"]["set"] == CLEAN), None)
    shifted = [content for _, content in found if content["condition"]["set"] != CLEAN]
    if not shifted:
        raise InvalidInput(f"{name} was asked about its clean test split alone; give a shifted test set too.")
    first = found[0][1]
    corrupted = [(receipt, content) for receipt, content in found if content["condition"]["corruption"]]
    mean = _mean(corrupted, name=name, num_bootstrap=num_bootstrap, seed=seed) if corrupted else None
    content = {
        "comparison": first["origin"]["comparison"],
        "clean": {**first["clean"], "batch_statistics": None if clean is None else clean["batch_statistics"]},
        "failures": first["failures"],
        "conditions": shifted,
        "mean": mean,
    }
    return ShiftSummary(json_bytes(content), _receipt(evaluated, content, name=name))


def _mean(
    corrupted: Sequence[tuple[Receipt, dict[str, Any]]], *, name: str, num_bootstrap: int, seed: int
) -> dict[str, Any]:
    samples = {content["samples"] for _, content in corrupted}
    if len(samples) != 1:
        raise InvalidInput(
            f"corrupted test sets of {name} must have the same images in the same order, got {len(samples)} kinds of them. "
            "A mean over them has no interval."
        )
    right, adapted = _mean_right(corrupted)
    scores = shift_scores(right, num_resamples=num_bootstrap, generator=generator_for(seed, "shift", "mean"))
    return {
        "num_conditions": len(corrupted),
        "num_samples": corrupted[0][1]["num_samples"],
        "num_bootstrap": num_bootstrap,
        "rows": [score.to_json() for score in scores],
        "batch_statistics": batch_statistics(
            right,
            adapted,
            num_bootstrap=num_bootstrap,
            generator=generator_for(seed, "shift", "mean", "batch statistics"),
        ),
    }


def _mean_right(
    corrupted: Sequence[tuple[Receipt, dict[str, Any]]],
) -> tuple[dict[str, Float64[Tensor, " n"]], dict[str, Float64[Tensor, " n"]]]:
    """Return by method, as it is and with batch statistics, the share of right answers per image, mean over conditions.

    The answers to one condition are in memory at a time.
    """
    order = [row["name"] for row in corrupted[0][1]["rows"]]
    total: dict[str, Tensor] = {}
    adapted: dict[str, Tensor] = {}
    for receipt, _ in corrupted:
        answers = read_answers(Root(receipt.uri))
        for sums, right in ((total, answers.right()), (adapted, answers.right_adapted())):
            for method, share in right.items():
                sums[method] = sums[method] + share if method in sums else share
    count = len(corrupted)
    return (
        {method: total[method] / count for method in order},
        {method: adapted[method] / count for method in order if method in adapted},
    )


def _receipt(evaluated: Sequence[Receipt], content: dict[str, Any], *, name: str) -> Receipt:
    headline = content["mean"] or content["conditions"][0]
    return Receipt(
        task="evaluate_shift",
        key=name,
        uri=evaluated[0].uri,
        digest=fingerprint([receipt.digest for receipt in evaluated]),
        seconds=sum(receipt.seconds for receipt in evaluated),
        peak_bytes=max(receipt.peak_bytes for receipt in evaluated),
        cached=all(receipt.cached for receipt in evaluated),
        rows=sum(receipt.rows for receipt in evaluated),
        detail={
            "conditions": len(content["conditions"]),
            "accuracy": _accuracies(headline["rows"]),
            "batch_statistics": _accuracies(headline["batch_statistics"]["rows"]),
            "clean": {method: item["value"] for method, item in content["clean"]["accuracy"].items()},
        },
    )


def _accuracies(rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    return {row["name"]: row["accuracy"]["value"] for row in rows}
