"""Result files -> ``Combination``: everything that the page relies on is checked here, and the wrong part is named."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.recoverability.report import RecoverabilityReport
from vitgeom.report.combination import Combination, Layer


def parse_combination(
    *,
    dataset: str,
    backbone: str,
    manifest: Mapping[str, Any],
    probes: Mapping[str, Any],
    recoverability: Mapping[str, Any],
) -> Combination:
    """Read the three result files of one pair.

    Args:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        manifest: Of its features: ``digest``, ``splits``.
        probes: How the probes were fitted: ``layers``, ``meta``, ``features``.
        recoverability: What they say of the test split: ``report``, ``refit_control``, ``best_minus_last``, ``features``.

    Raises:
        InvalidInput: A part is missing, a number is not finite, or the files belong to different features.
    """
    where = f"{dataset} × {backbone}"
    try:
        report = RecoverabilityReport.from_json(recoverability["report"])
        _check_together(report, manifest=manifest, probes=probes, recoverability=recoverability, where=where)
        combination = _combination(
            report, manifest=manifest, probes=probes, recoverability=recoverability, names=(dataset, backbone)
        )
    except (KeyError, TypeError, IndexError) as error:
        raise InvalidInput(
            f"a result file of {where} lacks what the report needs ({type(error).__name__}: {error}); was it written by another "
            "version? Run the stages extract and probe again."
        ) from error
    _check_finite(combination, where=where)
    return combination


def _combination(
    report: RecoverabilityReport,
    *,
    manifest: Mapping[str, Any],
    probes: Mapping[str, Any],
    recoverability: Mapping[str, Any],
    names: tuple[str, str],
) -> Combination:
    control, floor = recoverability["refit_control"], report.floor_permutation
    has_floor = report.r_any is not None
    return Combination(
        dataset=names[0],
        backbone=names[1],
        counts=tuple((split, int(part["n"])) for split, part in manifest["splits"].items()),
        num_classes=report.num_classes,
        layers=tuple(_layer(report, number, fitted) for number, fitted in enumerate(probes["layers"])),
        best_layer=int(probes["meta"]["best_layer"]) + 1,
        errors=report.errors,
        r_any=report.r_any,
        floor_uniform=Interval(*[report.floor_uniform] * 3) if has_floor else None,
        floor_permutation=Interval(floor.mean, floor.low, floor.high) if has_floor and floor else None,
        refit_control=Interval.from_json(control["r_any"])
        if has_floor and control and control["r_any"]
        else None,
        oracle=report.oracle,
        gain=Interval.from_json(recoverability["best_minus_last"]),
        mcnemar_p=float(recoverability["best_minus_last"]["mcnemar"]["p"]),
        gap=report.gap if report.gap is not None else report.gap_last,
        refits_unconverged=int(control["unconverged"]) if control else 0,
        corrections=None if report.corrections is None else report.corrections["shared"],
        geometry=report.geometry,
        diversity=report.diversity,
        manifest_digest=str(manifest["digest"]),
    )


def _layer(report: RecoverabilityReport, number: int, fitted: Mapping[str, Any]) -> Layer:
    """Join what the test split and the fit say of one layer; ``number`` counts from 0, the page from 1."""
    return Layer(
        layer=int(fitted["layer"]),
        accuracy=report.accuracy[number],
        accuracy_per_class=report.accuracy_per_class[number],
        recoverability=report.recoverability[number] if number < report.num_layers - 1 else None,
        val_accuracy=float(fitted["val_accuracy"]),
        val_loss=float(fitted["val_loss"]),
        l2=float(fitted["l2"]),
        grad_norm=float(fitted["grad_norm"]),
        converged=bool(fitted["converged"]),
    )


def _check_together(
    report: RecoverabilityReport,
    *,
    manifest: Mapping[str, Any],
    probes: Mapping[str, Any],
    recoverability: Mapping[str, Any],
    where: str,
) -> None:
    """Refuse files that do not describe the same features, samples, layers and choice."""
    agreements = {
        "features digest": (
            manifest["digest"],
            probes["features"]["manifest_digest"],
            recoverability["features"]["manifest_digest"],
        ),
        "number of test samples": (manifest["splits"]["test"]["n"], report.num_samples),
        "number of layers": (len(probes["layers"]), report.num_layers),
        "best layer": (probes["meta"]["best_layer"], report.best_layer),
    }
    for what, values in agreements.items():
        if len(set(values)) > 1:
            raise InvalidInput(
                f"the result files of {where} do not belong together: {what} is {', '.join(map(str, values))}. "
                "Run the stages extract and probe again."
            )


def _spans_of(part: object) -> list[Interval | None]:
    """Return every interval of a record, also those in tuples."""
    values = [] if part is None else list(vars(part).values())
    nested = [item for value in values if isinstance(value, tuple) for item in value]
    return [value for value in [*values, *nested] if isinstance(value, Interval)]


def _check_finite(combination: Combination, *, where: str) -> None:
    """Refuse an interval that is not finite or runs backwards."""
    layers = combination.layers
    spans: dict[str, list[Interval | None]] = {
        "accuracy": [*(layer.accuracy for layer in layers)],
        "accuracy per class": [*(layer.accuracy_per_class for layer in layers)],
        "recoverability": [layer.recoverability for layer in layers],
        "R_any": [combination.r_any],
        "permutation floor": [combination.floor_permutation],
        "refit control": [combination.refit_control],
        "oracle": [combination.oracle],
        "gain and gap": [combination.gain, combination.gap],
        "corrections": _spans_of(combination.corrections),
        "geometric disagreement": _spans_of(combination.geometry),
        "diversity": _spans_of(combination.diversity),
    }
    for what, intervals in spans.items():
        for span in intervals:
            if span is not None and not (span.low <= span.high and math.isfinite(span.value)):
                raise InvalidInput(
                    f"{what} of {where} must be a finite number with an interval from low to high, got {span}. Run the stage probe again."
                )
