"""All evaluations of one cell in one record, with the mean over corruptions and severities.

n = test rows, M = methods, S = conditions.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from torch import Tensor

from tasks.receipt import Receipt
from tasks.shift_results import EVALUATION, read_predictions
from tasks.stored_results import json_bytes
from vitgeom.errors import InvalidInput
from vitgeom.fusion.under_shift import share_right, shift_scores
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
        evaluated: Receipts of ``evaluate_shift``, at least one.
        name: Of the cell.
        num_bootstrap: Resamples behind each interval of the mean.
        seed: Decides them.

    Raises:
        InvalidInput: They are of different classifiers, or corrupted test sets have other samples than each other.
    """
    found = [(receipt, Root(receipt.uri).read_json(EVALUATION)) for receipt in evaluated]
    classifiers = {content["origin"]["fused"] for _, content in found}
    if len(classifiers) != 1:
        raise InvalidInput(
            f"evaluations of {name} must be of the same classifiers, got {len(classifiers)} kinds. Evaluate all of one cell."
        )
    first = found[0][1]
    corrupted = [(receipt, content) for receipt, content in found if content["condition"]["corruption"]]
    mean = _mean(corrupted, name=name, num_bootstrap=num_bootstrap, seed=seed) if corrupted else None
    content = {
        "comparison": first["origin"]["comparison"],
        "clean": first["clean"],
        "failures": first["failures"],
        "conditions": [content for _, content in found],
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
    total: dict[str, Tensor] = {}
    for receipt, _ in corrupted:
        predicted, target = read_predictions(Root(receipt.uri))
        for method, given in predicted.items():
            right = share_right(given, target)
            total[method] = total[method] + right if method in total else right
    order = [row["name"] for row in corrupted[0][1]["rows"]]
    scores = shift_scores(
        {method: total[method] / len(corrupted) for method in order},
        num_resamples=num_bootstrap,
        generator=generator_for(seed, "shift", "mean"),
    )
    return {
        "num_conditions": len(corrupted),
        "num_samples": corrupted[0][1]["num_samples"],
        "num_bootstrap": num_bootstrap,
        "rows": [score.to_json() for score in scores],
    }


def _receipt(evaluated: Sequence[Receipt], content: dict[str, Any], *, name: str) -> Receipt:
    mean = content["mean"]
    rows = mean["rows"] if mean else content["conditions"][0]["rows"]
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
            "conditions": len(evaluated),
            "accuracy": {row["name"]: row["accuracy"]["value"] for row in rows},
            "clean": {method: item["value"] for method, item in content["clean"]["accuracy"].items()},
        },
    )
