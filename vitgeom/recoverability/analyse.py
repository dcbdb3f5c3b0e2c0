"""Recoverability of the last layer's errors (definitions: A3 to A6 and A8 of the methods).

L = layers, n = test samples, K = classes, E = samples the last layer gets wrong.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Float, Int, Int64
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, check_resampling, percentile_interval, resample_counts
from vitgeom.errors import InvalidInput
from vitgeom.probes.given_features import float_tensor
from vitgeom.recoverability.permutation_floor import permutation_floor
from vitgeom.recoverability.relations import Relations
from vitgeom.recoverability.report import PermutationFloor, RecoverabilityReport
from vitgeom.recoverability.tally import Rates, Tally
from vitgeom.seeding import check_generator
from vitgeom.whole_numbers import whole_number

LEVEL = 0.95


def analyse(
    logits: Float[Tensor, "L n K"] | Float[np.ndarray, "L n K"],
    labels: Int[Tensor, " m"] | Int[np.ndarray, " m"] | Sequence[int],
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
        logits: Of every layer's probe on the test split, last layer last; a tensor or a numpy array.
        labels: Index into the probes' classes; -1 for a class they were never shown (always wrong; all such samples
            form one class in mean-per-class accuracy).
        best_layer: The layer validation chose, 0-based. Never choose it on these samples.
        num_bootstrap: Resamples.
        num_permutations: Shuffles behind the permutation floor.
        generator: The only source of randomness.

    Raises:
        InvalidInput: Logits, labels, best_layer, a number of draws or generator of another kind; shapes do not match, no samples, a label or best_layer
            out of range, NaN logits.
    """
    check_generator(generator)
    logits, labels = _logit_tensor(logits), _label_tensor(labels)
    _check(logits, labels)
    best_layer = _layer_number(best_layer, num_layers=len(logits))
    num_bootstrap = check_resampling(
        len(labels), num_resamples=num_bootstrap, level=LEVEL, name="num_bootstrap"
    )
    num_permutations = whole_number("num_permutations", num_permutations, at_least=1, way_out="200 is usual")
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


def _logit_tensor(logits: object) -> Float[Tensor, "L n K"]:
    """Return logits as a tensor of three dimensions."""
    if not isinstance(logits, Tensor | np.ndarray):
        raise InvalidInput(
            f"logits must be a tensor or a numpy array [L, n, K], got {type(logits).__name__}; "
            "torch.stack puts those of several layers together."
        )
    if logits.ndim != 3:
        raise InvalidInput(
            f"logits must have shape [L, n, K], got {list(logits.shape)}; those of one layer alone are logits[None]."
        )
    if isinstance(logits, np.ndarray):
        return float_tensor(logits, name="logits")
    if not logits.is_floating_point():
        raise InvalidInput(f"logits must be floating point, got {logits.dtype}; call .float() first.")
    return logits.detach()


def _label_tensor(labels: object) -> Int64[Tensor, " n"]:
    """Return labels as class indices on the CPU."""
    way_out = "LayerProbes.index turns original ids into indices."
    try:
        given = labels if isinstance(labels, Tensor) else torch.from_numpy(np.array(labels))
    except (TypeError, ValueError):
        raise InvalidInput(
            f"labels must be a tensor, an array or a list of integers, got a {type(labels).__name__} of something else; {way_out}"
        ) from None
    if given.ndim != 1:
        raise InvalidInput(
            f"labels must be one class index per sample, shape [n], got {list(given.shape)}; {way_out}"
        )
    if len(given) and (given.dtype == torch.bool or given.is_floating_point() or given.is_complex()):
        raise InvalidInput(f"labels must be integers, got {given.dtype}; {way_out}")
    return given.detach().cpu().long()


def _layer_number(best_layer: object, *, num_layers: int) -> int | None:
    """Return the chosen layer as a plain integer."""
    if best_layer is None:
        return None
    number = -1
    if isinstance(best_layer, int | np.integer) and not isinstance(best_layer, bool):
        number = int(best_layer)
    if not 0 <= number < num_layers:
        raise InvalidInput(
            f"best_layer must be an integer in 0..{num_layers - 1}, or None for no choice, got {best_layer!r}; "
            "LayerProbes.best_layer is the one that validation chose."
        )
    return number


def _check(logits: Tensor, labels: Tensor) -> None:
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
