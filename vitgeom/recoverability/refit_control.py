"""Many tries at the last layer: what R_any would be without any depth.   n = training rows, m = test rows, R = refits."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.probes.given_features import refuse_non_finite
from vitgeom.probes.labels import Labels, class_ids, class_index, label_array
from vitgeom.probes.layer_fit import fit_layer
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET
from vitgeom.recoverability.analyse import analyse, check_generator


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
    X_last: Float[Tensor, "n D"],
    y: Labels,
    X_test: Float[Tensor, "m E"],
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
        X_last: Training features of the last layer.
        y: Their labels.
        X_test: Test features of the last layer.
        y_test: Their labels; a class training never showed is always wrong.
        l2: The last layer's chosen strength.
        num_refits: R, for a fair control L - 1.
        num_bootstrap: Test resamples behind the interval of R_any.
        tol: Relative gradient norm.
        max_iter: Most Newton steps.
        byte_budget: Memory to aim for.
        generator: The only source of randomness.

    Raises:
        InvalidInput: No generator, num_refits < 1, shapes that do not match, one class only, NaN or infinite features.
    """
    check_generator(generator)
    if num_refits < 1:
        raise InvalidInput(
            f"num_refits must be >= 1, got {num_refits}; with one layer there is nothing to control for."
        )
    labels, labels_test = label_array(y, name="y"), label_array(y_test, name="y_test")
    for name, x, given in (("X_last", X_last, labels), ("X_test", X_test, labels_test)):
        if len(x) != len(given):
            raise InvalidInput(
                f"{name} must have one row per label, got {len(x)} rows and {len(given)} labels."
            )
        refuse_non_finite(x, name=name, layer=None)
    classes = class_ids(labels)
    fit = fit_layer(
        X_last,
        class_index(labels, classes),
        num_classes=len(classes),
        l2=torch.full((num_refits + 1,), l2, dtype=torch.float64),
        tol=tol,
        max_iter=max_iter,
        sample_weight=_resample_weights(len(labels), num_refits=num_refits, generator=generator),
        byte_budget=byte_budget,
    )
    logits = torch.stack([fit.logits(X_test, problem=problem) for problem in range(num_refits + 1)])
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


def _resample_weights(num_rows: int, *, num_refits: int, generator: Generator) -> Float[Tensor, "n P"]:
    """Return how often each row is drawn by each refit; the last column is the training set itself."""
    drawn = torch.randint(num_rows, (num_refits, num_rows), generator=generator)
    counts = torch.stack([torch.bincount(row, minlength=num_rows) for row in drawn])
    return torch.cat([counts.double(), torch.ones(1, num_rows, dtype=torch.float64)]).T.contiguous()
