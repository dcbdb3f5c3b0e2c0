"""R_any of layers that know nothing about the sample: their predictions shuffled inside the error set.

E = errors of the last layer, M = L - 1 earlier layers.
"""

from __future__ import annotations

import torch
from jaxtyping import Int64
from torch import Generator, Tensor

from vitgeom.bootstrap import percentile_interval
from vitgeom.errors import InvalidInput
from vitgeom.recoverability.report import PermutationFloor
from vitgeom.whole_numbers import whole_number


def permutation_floor(
    predictions: Int64[Tensor, "M E"],
    labels: Int64[Tensor, " E"],
    *,
    num_permutations: int,
    generator: Generator,
) -> PermutationFloor:
    """Shuffle each layer's predictions over E, independently, and take R_any of what results.

    What is kept is how often each layer says each class; what is lost is which sample it says it of. The expectation is
    exact: layer l is right on sample i with probability c_l(y_i) / |E|, c_l(k) the number of times it says k, and the
    layers are independent, so E[R_any] = 1 - mean_i prod_l (1 - c_l(y_i) / |E|).

    Args:
        predictions: Class index each earlier layer gives each error, L - 1 >= 1 rows.
        labels: True class index, -1 for a class that no layer can say.
        num_permutations: How many shuffles.
        generator: The only source of randomness.

    Raises:
        InvalidInput: No permutation, no error or no earlier layer.
    """
    num_layers, num_errors = predictions.shape
    num_permutations = whole_number("num_permutations", num_permutations, at_least=1, way_out="200 is usual")
    if num_errors < 1 or num_layers < 1:
        raise InvalidInput(
            f"a permutation floor needs at least 1 error and 1 earlier layer, got {num_errors} and {num_layers}."
        )
    rates = torch.empty(num_permutations, dtype=torch.float64)
    for draw in range(num_permutations):
        hit = torch.zeros(num_errors, dtype=torch.bool)
        for layer in predictions:
            hit |= layer[torch.randperm(num_errors, generator=generator)] == labels
        rates[draw] = hit.double().mean()
    mean = float(rates.mean())
    interval = percentile_interval(mean, rates, level=0.95)
    assert interval is not None
    return PermutationFloor(
        mean, interval.low, interval.high, expected_floor(predictions, labels), num_permutations
    )


def expected_floor(predictions: Int64[Tensor, "M E"], labels: Int64[Tensor, " E"]) -> float:
    """Return the exact expectation of R_any under shuffling.

    Args:
        predictions: Class index each earlier layer gives each error.
        labels: True class index, -1 for a class that no layer can say.
    """
    num_errors = len(labels)
    num_classes = int(torch.maximum(predictions.max(), labels.max())) + 1
    missed = torch.ones(num_errors, dtype=torch.float64)
    for layer in predictions:
        said = torch.bincount(layer, minlength=num_classes).double() / num_errors
        missed *= 1 - torch.where(labels >= 0, said[labels.clamp(min=0)], 0.0)
    return float(1 - missed.mean())
