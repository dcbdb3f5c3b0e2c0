"""The results for machines: one flat row per layer, and one summary per pair."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.report.combination import Combination
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.fused_pair import FusedPair
from vitgeom.report.fusion_verdict import fusion_sentence
from vitgeom.report.learnt_summary import learnt_summary
from vitgeom.report.material import Material
from vitgeom.report.shifted_pair import AdaptedScores, ShiftedPair
from vitgeom.report.verdict import answer

COLUMNS = (
    "dataset", "backbone", "layer", "num_layers", "is_best", "n_test", "errors_of_last", "test_accuracy", "test_accuracy_low",
    "test_accuracy_high", "recoverability", "recoverability_low", "recoverability_high", "val_accuracy", "val_loss", "l2", "grad_norm",
    "converged",
)  # fmt: skip


def metrics_csv(pairs: Iterable[Combination]) -> str:
    """Return one row per layer of every pair, under a header; what does not exist is an empty cell.

    Shares are in 0..1, the loss is in nats, intervals are 95 %.

    Args:
        pairs: Finished pairs.
    """
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow(COLUMNS)
    for pair in pairs:
        writer.writerows(_rows(pair))
    return stream.getvalue()


def _rows(pair: Combination) -> list[list[Any]]:
    return [
        [
            pair.dataset, pair.backbone, layer.layer, pair.num_layers, int(layer.layer == pair.best_layer), pair.num_test, pair.errors,
            *_cells(layer.accuracy), *_cells(layer.recoverability), layer.val_accuracy, layer.val_loss, layer.l2, layer.grad_norm,
            int(layer.converged),
        ]
        for layer in pair.layers
    ]  # fmt: skip


def _cells(span: Interval | None) -> tuple[float | str, ...]:
    return ("", "", "") if span is None else (span.value, span.low, span.high)


def summary(material: Material) -> dict[str, Any]:
    """Return the answers and their numbers as plain JSON; what does not exist is null.

    Args:
        material: What the report shows.
    """
    return {
        "profile": material.profile,
        "title": material.title,
        "finished": [_summary(pair) for pair in material.finished],
        "failed": [
            {"dataset": failure.dataset, "backbone": failure.backbone, "reason": failure.reason}
            for failure in material.failed
        ],
        "fusion": [_fusion(pair) for pair in material.fused],
        "shift": [_shift(pair) for pair in material.shifted],
        "directions": [_directions(pair) for pair in material.directed],
        "learnt": [learnt_summary(pair) for pair in material.learnt],
    }


def _directions(pair: DirectedPair) -> dict[str, Any]:
    return {
        "dataset": pair.dataset,
        "backbone": pair.backbone,
        "violated_bounds": pair.violations,
        "decoders": {
            one.key: {
                "outputs": one.outputs,
                "features": one.columns,
                "directions": one.found,
                "images": one.images,
                "regimes": dict(one.regimes),
                "flat_spectrum": one.flat,
                "variation_of_random_directions": one.scatter,
                **{name: _interval(one.value(name)) for name in one.figures},
            }
            for one in pair.decoders
        },
    }


def _shift(pair: ShiftedPair) -> dict[str, Any]:
    groups = () if pair.subpopulations is None else pair.subpopulations.methods
    return {
        "dataset": pair.dataset,
        "backbone": pair.backbone,
        "num_test": pair.num_test,
        "conditions": [[one.corruption, one.severity] for one in pair.conditions],
        "clean_accuracy": {name: _interval(span) for name, span in pair.clean.items()},
        "mean_corruption_accuracy": {score.name: _interval(score.accuracy) for score in pair.mean},
        "batch_statistics": {
            "mean_corruption_accuracy": _adapted(pair.adapted_mean),
            "clean_accuracy": _adapted(pair.adapted_clean),
        },
        "worst_group": {one.name: {"group": one.worst_group, **one.worst.to_json()} for one in groups},
        "mean_over_groups": {one.name: _interval(one.mean) for one in groups},
    }


def _adapted(found: AdaptedScores | None) -> dict[str, Any]:
    scores = () if found is None else found.scores
    return {score.name: _interval(score.accuracy) for score in scores}


def _fusion(pair: FusedPair) -> dict[str, Any]:
    return {
        "dataset": pair.dataset,
        "backbone": pair.backbone,
        "answer": fusion_sentence(pair),
        "reference": pair.comparison.reference,
        "num_test": pair.comparison.num_samples,
        "oracle": pair.comparison.oracle,
        "accuracy": {row.name: _interval(row.score.accuracy) for row in pair.methods},
        "difference": {row.name: _interval(row.score.difference) for row in pair.methods},
        "gap_closure": {row.name: row.score.gap_closure for row in pair.methods},
        "failures": [{"method": title, "error": error} for title, error in pair.failures],
    }


def _summary(pair: Combination) -> dict[str, Any]:
    spans = ("r_any", "floor_uniform", "floor_permutation", "refit_control", "oracle", "gap", "gain")
    return {
        "dataset": pair.dataset,
        "backbone": pair.backbone,
        "answer": answer(pair).value,
        "num_test": pair.num_test,
        "num_classes": pair.num_classes,
        "num_layers": pair.num_layers,
        "best_layer": pair.best_layer,
        "errors": pair.errors,
        "best_accuracy": _interval(pair.best.accuracy),
        "last_accuracy": _interval(pair.layers[-1].accuracy),
        "mcnemar_p": pair.mcnemar_p,
        "unconverged_layers": [layer.layer for layer in pair.layers if not layer.converged],
        "features_digest": pair.manifest_digest,
        **{name: _interval(getattr(pair, name)) for name in spans},
    }


def _interval(span: Interval | None) -> dict[str, float] | None:
    return None if span is None else {"value": span.value, "low": span.low, "high": span.high}
