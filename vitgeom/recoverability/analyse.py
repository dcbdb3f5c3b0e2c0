"""Recoverability of the last layer's errors (definitions: A3 to A6 and A8 of the methods).

L = layers, n = test samples, K = classes, E = samples the last layer gets wrong.
"""

from __future__ import annotations

import torch
from jaxtyping import Float, Int64
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, check_resampling, percentile_interval, resample_counts
from vitgeom.errors import InvalidInput
from vitgeom.recoverability.permutation_floor import permutation_floor
from vitgeom.recoverability.relations import Relations
from vitgeom.recoverability.report import PermutationFloor, RecoverabilityReport
from vitgeom.recoverability.tally import Rates, Tally

LEVEL = 0.95


def analyse(
    logits: Float[Tensor, "L n K"],
    labels: Int64[Tensor, " m"],
    *,
    best_layer: int | None = None,
    num_bootstrap: int = 1000,
    num_permutations: int = 200,
    generator: Generator,
) -> RecoverabilityReport:
    """Say how much of what the last layer gets wrong some earlier layer gets right, and how much chance would give.

    R_l = |{x in E: layer l right}| / |E|, R_any the same for "some layer before the last". All intervals are 95 %
    percentile bootstrap over test samples; E is drawn anew with each resample. With one layer there is no earlier one:
    R_any and its permutation floor are None.

    Cost: one product of ``[num_bootstrap, n]`` with about ``[n, 7 L + L^2 / 2]``, and num_permutations * (L - 1) shuffles of E.

    Args:
        logits: Of every layer's probe on the test split, last layer last.
        labels: Index into the probes' classes; -1 for a class they were never shown (always wrong; all such samples
            form one class in mean-per-class accuracy).
        best_layer: The layer validation chose, 0-based. Never choose it on these samples.
        num_bootstrap: Resamples.
        num_permutations: Shuffles behind the permutation floor.
        generator: The only source of randomness.

    Raises:
        InvalidInput: Shapes do not match, no samples, a label or best_layer out of range, NaN logits.
    """
    _check(logits, labels, best_layer=best_layer)
    check_resampling(len(labels), num_resamples=num_bootstrap, level=LEVEL)
    labels = labels.cpu()
    predictions = logits.argmax(dim=2).cpu()
    correct = predictions == labels
    wrong = ~correct[-1]
    tally = Tally(correct, labels)
    relations = Relations(logits, labels, predictions=predictions, correct=correct)
    once = torch.ones(1, len(labels), dtype=torch.float64)
    here, related = tally.rates(once), relations.rates(once)
    resampled = [
        (tally.rates(counts), relations.rates(counts))
        for counts in resample_counts(len(labels), num_resamples=num_bootstrap, generator=generator)
    ]
    there = _join([rates for rates, _ in resampled])
    found = relations.summary(related, [rates for _, rates in resampled], level=LEVEL)
    floor: PermutationFloor | None = None
    if len(logits) > 1 and bool(wrong.any()):
        floor = permutation_floor(
            predictions[:-1, wrong], labels[wrong], num_permutations=num_permutations, generator=generator
        )
    num_layers, _, num_classes = logits.shape
    return RecoverabilityReport(
        num_samples=len(labels),
        num_classes=num_classes,
        classes_present=len(torch.unique(labels)),
        errors=int(wrong.sum()),
        accuracy=_columns(here.accuracy, there.accuracy),
        accuracy_per_class=_columns(here.accuracy_per_class, there.accuracy_per_class),
        recoverability=tuple(
            _maybe(here.recoverability[0, layer], there.recoverability[:, layer])
            for layer in range(num_layers - 1)
        ),
        r_any=_maybe(here.r_any[0], there.r_any),
        undefined_resamples=int((there.accuracy[:, -1] == 1).sum()),
        floor_uniform=1 - (1 - 1 / num_classes) ** (num_layers - 1),
        floor_permutation=floor,
        oracle=_sure(here.oracle[0], there.oracle),
        best_layer=best_layer,
        gap=None if best_layer is None else _gap(here, there, layer=best_layer),
        gap_last=_gap(here, there, layer=num_layers - 1),
        accuracy_top5=found.accuracy_top5,
        corrections=found.corrections,
        geometry=found.geometry,
        diversity=found.diversity,
        num_bootstrap=num_bootstrap,
    )


def _check(logits: Tensor, labels: Tensor, *, best_layer: int | None) -> None:
    num_layers, num_samples, num_classes = logits.shape
    if num_samples != len(labels):
        raise InvalidInput(
            f"logits must have shape [L, n, K] with n = {len(labels)} like the labels, got {list(logits.shape)}; "
            "probe logits [n, L, K] need .transpose(0, 1)."
        )
    if num_layers < 1 or num_classes < 2:
        raise InvalidInput(
            f"logits must have at least 1 layer and 2 classes, got {num_layers} and {num_classes}."
        )
    if num_samples and (int(labels.min()) < -1 or int(labels.max()) >= num_classes):
        raise InvalidInput(
            f"labels must be class indices 0..{num_classes - 1} (-1: a class the probes do not know), got values from "
            f"{int(labels.min())} to {int(labels.max())}; LayerProbes.index turns original ids into indices."
        )
    if best_layer is not None and not 0 <= best_layer < num_layers:
        raise InvalidInput(f"best_layer must lie in 0..{num_layers - 1}, got {best_layer}.")
    if bool(torch.isnan(logits).any()):
        bad = torch.isnan(logits).any(dim=2).nonzero()[0].tolist()
        raise InvalidInput(
            f"logits must not be NaN, first at layer {bad[0]}, sample {bad[1]}; refit that probe."
        )


def _join(parts: list[Rates]) -> Rates:
    """Put the resamples of all chunks below each other."""
    return Rates(
        accuracy=torch.cat([part.accuracy for part in parts]),
        accuracy_per_class=torch.cat([part.accuracy_per_class for part in parts]),
        recoverability=torch.cat([part.recoverability for part in parts]),
        r_any=torch.cat([part.r_any for part in parts]),
        oracle=torch.cat([part.oracle for part in parts]),
    )


def _maybe(here: Tensor, there: Tensor) -> Interval | None:
    return percentile_interval(float(here), there, level=LEVEL)


def _sure(here: Tensor, there: Tensor) -> Interval:
    interval = _maybe(here, there)
    assert interval is not None
    return interval


def _columns(here: Tensor, there: Tensor) -> tuple[Interval, ...]:
    return tuple(_sure(here[0, layer], there[:, layer]) for layer in range(there.shape[1]))


def _gap(here: Rates, there: Rates, *, layer: int) -> Interval:
    return _sure(here.oracle[0] - here.accuracy[0, layer], there.oracle - there.accuracy[:, layer])
