"""Many tries at the last layer: what R_any would be without any depth.   n = training rows, m = test rows, D = width, R = refits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, resample_number
from vitgeom.errors import InvalidInput
from vitgeom.probes.given_features import float_tensor, refuse_non_finite
from vitgeom.probes.labels import Labels, class_ids, class_index, label_array
from vitgeom.probes.layer_fit import fit_layer
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET
from vitgeom.recoverability.analyse import analyse
from vitgeom.seeding import check_generator
from vitgeom.whole_numbers import whole_number


@dataclass(frozen=True)
class RefitControl:
    """R_any when the "earlier layers" are refits of the last layer's probe.

    Attributes:
        r_any: Share of the reference probe's errors that some refit gets right; None when there is no error.
        errors: Test samples the reference probe gets wrong.
        accuracy: Test accuracy of the reference probe (fitted on all training rows).
        refit_accuracy: Test accuracy of each refit.
        unconverged: Probes, of R + 1, that did not reach the tolerance.
    """

    r_any: Interval | None
    errors: int
    accuracy: float
    refit_accuracy: tuple[float, ...]
    unconverged: int

    def to_json(self) -> dict[str, Any]:
        """Return the result as plain JSON."""
        return {**asdict(self), "refit_accuracy": list(self.refit_accuracy)}


def refit_control(
    X_last: Float[Tensor, "n D"] | Float[np.ndarray, "n D"],
    y: Labels,
    X_test: Float[Tensor, "m E"] | Float[np.ndarray, "m E"],
    y_test: Labels,
    *,
    l2: float,
    num_refits: int,
    num_bootstrap: int = 1000,
    tol: float = 1e-6,
    max_iter: int = 100,
    byte_budget: int = DEFAULT_BYTE_BUDGET,
    generator: Generator,
) -> RefitControl:
    """Refit the last layer's probe on bootstrap resamples of the training rows and take R_any over the refits.

    L - 1 probes have L - 1 chances to be right by luck. Refits have the same number of chances and no depth, so R_any of
    the layers is signal in depth only as far as it exceeds this. A resample is a set of row weights: reference and all
    refits are one batched problem on shared, unweighted standardisation.

    Args:
        X_last: Training features of the last layer; a tensor or a numpy array.
        y: Their labels.
        X_test: Test features of the last layer; likewise.
        y_test: Their labels; a class training never showed is always wrong.
        l2: The last layer's chosen strength.
        num_refits: R, for a fair control L - 1.
        num_bootstrap: Test resamples behind the interval of R_any.
        tol: Relative gradient norm.
        max_iter: Most Newton steps.
        byte_budget: Memory to aim for.
        generator: The only source of randomness.

    Raises:
        InvalidInput: No generator, a number of draws that is no whole number or < 1, features of another kind, shapes that do not match,
            one class only, NaN or infinite features.
    """
    check_generator(generator)
    num_refits = whole_number(
        "num_refits", num_refits, at_least=1, way_out="with one layer there is nothing to control for"
    )
    num_bootstrap = resample_number(num_bootstrap, name="num_bootstrap")
    labels, labels_test = label_array(y, name="y"), label_array(y_test, name="y_test")
    x_nD = _features(X_last, name="X_last", num_labels=len(labels))
    x_mD = _features(X_test, name="X_test", num_labels=len(labels_test))
    classes = class_ids(labels)
    fit = fit_layer(
        x_nD,
        class_index(labels, classes),
        num_classes=len(classes),
        l2=torch.full((num_refits + 1,), l2, dtype=torch.float64),
        tol=tol,
        max_iter=max_iter,
        sample_weight=_resample_weights(len(labels), num_refits=num_refits, generator=generator),
        byte_budget=byte_budget,
    )
    logits = torch.stack([fit.logits(x_mD, problem=problem) for problem in range(num_refits + 1)])
    report = analyse(
        logits,
        class_index(labels_test, classes),
        num_bootstrap=num_bootstrap,
        num_permutations=1,
        generator=generator,
    )
    return RefitControl(
        r_any=report.r_any,
        errors=report.errors,
        accuracy=report.accuracy[-1].value,
        refit_accuracy=tuple(interval.value for interval in report.accuracy[:-1]),
        unconverged=int((~fit.converged).sum()),
    )


def _features(x: object, *, name: str, num_labels: int) -> Float[Tensor, "n D"]:
    """Return the features of one layer as a tensor, if a probe can be fitted on or applied to them."""
    if not isinstance(x, Tensor | np.ndarray):
        raise InvalidInput(f"{name} must be a tensor or a numpy array [n, D], got {type(x).__name__}.")
    if x.ndim != 2:
        raise InvalidInput(
            f"{name} must have shape [n, D], got {list(x.shape)}; the last of several layers is {name}[:, -1]."
        )
    if len(x) != num_labels:
        raise InvalidInput(f"{name} must have one row per label, got {len(x)} rows and {num_labels} labels.")
    tensor = float_tensor(x, name=name) if isinstance(x, np.ndarray) else x
    if not tensor.is_floating_point():
        raise InvalidInput(f"{name} must be floating point, got {tensor.dtype}; call .float() first.")
    refuse_non_finite(tensor, name=name, layer=None)
    return tensor


def _resample_weights(num_rows: int, *, num_refits: int, generator: Generator) -> Float[Tensor, "n P"]:
    """Return how often each row is drawn by each refit; the last column is the training set itself."""
    drawn = torch.randint(num_rows, (num_refits, num_rows), generator=generator)
    counts = torch.stack([torch.bincount(row, minlength=num_rows) for row in drawn])
    return torch.cat([counts.double(), torch.ones(1, num_rows, dtype=torch.float64)]).T.contiguous()
