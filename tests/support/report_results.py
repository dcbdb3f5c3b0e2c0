"""Made-up results for the report's tests: shapes and edge cases, never shown to a user."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.bootstrap import Interval
from vitgeom.recoverability.corrections import Corrections
from vitgeom.recoverability.diversity import Diversity
from vitgeom.recoverability.geometric_disagreement import GeometricDisagreement
from vitgeom.report.combination import Combination, Failure, Layer
from vitgeom.report.material import Cost, DatasetFacts, Material


def around(value: float, *, half: float = 0.03) -> Interval:
    return Interval(value, max(0.0, value - half), min(1.0, value + half))


def exactly(value: float) -> Interval:
    return Interval(value, value, value)


def layer(number: int, accuracy: float, *, recovered: Interval | None, converged: bool = True) -> Layer:
    return Layer(
        layer=number, accuracy=around(accuracy),
        accuracy_per_class=around(accuracy), recoverability=recovered, val_accuracy=accuracy + 0.01, val_loss=1 - accuracy,
        l2=1e-3, grad_norm=4.2e-7 if converged else 3e-3, converged=converged,
    )  # fmt: skip


R_ANY = Interval(0.7, 0.61, 0.79)
PERMUTED = Interval(0.38, 0.3, 0.47)
REFITS = Interval(0.21, 0.12, 0.31)


def combination(
    *,
    dataset: str = "digits",
    backbone: str = "nano_supervised",
    accuracies: Sequence[float] = (0.4, 0.62, 0.75, 0.86, 0.84),
    errors: int = 57,
    r_any: Interval | None = R_ANY,
    uniform: float = 0.344,
    permuted: Interval | None = PERMUTED,
    refits: Interval | None = REFITS,
    best_layer: int = 4,
    unconverged: Sequence[int] = (),
    num_classes: int = 10,
    num_test: int = 360,
) -> Combination:
    last = len(accuracies)
    measured = errors > 0 and last > 1
    recovered = around(0.33, half=0.1) if measured else None
    return Combination(
        dataset=dataset,
        backbone=backbone,
        counts=(("train", 1080), ("val", 357), ("test", num_test)),
        num_classes=num_classes,
        layers=tuple(
            layer(
                number,
                value,
                recovered=None if number == last else recovered,
                converged=number not in unconverged,
            )
            for number, value in enumerate(accuracies, start=1)
        ),
        best_layer=best_layer,
        errors=errors,
        r_any=r_any if measured else None,
        floor_uniform=exactly(uniform) if measured else None,
        floor_permutation=permuted if measured else None,
        refit_control=refits if measured else None,
        oracle=around(0.95, half=0.02),
        gain=Interval(0.02, 0.004, 0.036),
        mcnemar_p=0.0123,
        gap=Interval(0.09, 0.06, 0.12),
        refits_unconverged=0,
        corrections=corrections(last - 1) if measured and r_any else None,
        geometry=geometry(last - 1) if measured else None,
        diversity=diversity(last) if last > 1 else None,
        manifest_digest="ab" * 32,
    )


def corrections(earlier: int) -> Corrections:
    return Corrections(
        share=(around(1 / earlier, half=0.05),) * earlier,
        entropy=around(0.93, half=0.04) if earlier > 1 else None,
    )


def geometry(earlier: int) -> GeometricDisagreement:
    return GeometricDisagreement(centred=around(0.6), raw=around(0.5), by_layer=(around(0.6),) * earlier)


def diversity(layers: int) -> Diversity:
    same = tuple(
        tuple(1.0 if a == b else 0.9 - 0.8 * abs(a - b) / layers for b in range(layers))
        for a in range(layers)
    )
    zero = ((0.0,) * layers,) * layers
    return Diversity(
        disagreement=around(0.2), q_statistic=around(0.8), double_fault=around(0.1),
        agreement_by_pair=same, disagreement_by_pair=zero, q_by_pair=zero, double_fault_by_pair=zero,
    )  # fmt: skip


def no_errors() -> Combination:
    return combination(dataset="photos", errors=0, accuracies=(0.9, 1.0, 1.0), best_layer=3)


def one_layer() -> Combination:
    return combination(dataset="scenes", backbone="single", accuracies=(0.9,), best_layer=1)


def not_beyond_chance() -> Combination:
    return combination(
        dataset="scenes", backbone="nano_selfsup", r_any=Interval(0.41, 0.3, 0.52), unconverged=(1,)
    )


def material(*finished: Combination, failed: Sequence[Failure] = ()) -> Material:
    return Material(
        title="Which layers know more than the last one?",
        profile="embedded",
        finished=finished,
        failed=tuple(failed),
        datasets=(
            DatasetFacts("digits", "1,797 scanned digits, split 60/20/20"),
            DatasetFacts("photos", "own folder", quarantine=(("a/<b>.png", "not an image"),)),
        ),
        costs=(
            Cost(
                "extract",
                "digits",
                "nano_supervised",
                3.21,
                num_bytes=5_242_880,
                peak_bytes=612_000_000,
                rows=1797,
            ),
            Cost("probe", "digits", "nano_supervised", 187.0, num_bytes=120_000),
        ),
        provenance={
            "git commit": "0123456789abcdef",
            "versions": {"python": "3.11.7", "torch": "2.13.0"},
            "params": {"probe": {"l2": [1e-4, 1e-3], "refit": False}},
        },
    )
