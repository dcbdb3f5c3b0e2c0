"""How much memory a comparison of fused classifiers takes.

n = training rows, L = layers, D = width, W = L D, K = classes, q = min(n, W), r = components.
"""

from __future__ import annotations

from dataclasses import dataclass

from tasks.held_layers import held_bytes
from vitgeom.fusion.scaled_rows import BLOCK_BYTES
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, bytes_per_layer, bytes_per_problem

RESAMPLING_BYTES = 256 * 2**20
"""Resamples of the test split are drawn in chunks of this order."""


@dataclass(frozen=True)
class FusionSize:
    """Sizes that decide the memory; ``rows`` are those of all splits."""

    train: int
    rows: int
    num_layers: int
    width: int
    num_classes: int


def fusion_bytes(
    size: FusionSize, *, num_problems: int, components: int, most_components: int, num_classifiers: int
) -> int:
    """Return an upper estimate of what one unit takes beside Python and its libraries.

    The features of all splits, each unless it is too large to be held; the probes' solver; held-out logits of every layer with their copies; the concatenation once in float32 and the
    eigenproblem of its smaller Gram matrix; coordinates of all rows for encoder and gate; the classifiers and their files.

    Args:
        size: Of the features.
        num_problems: Problems that one layer is solved for at once.
        components: r of encoder or gate, whichever is more.
        most_components: Most axes of a linear model on the concatenation.
        num_classifiers: Fitted ones, all methods and seeds together; they and their files are kept until all are written.
    """
    wide = size.num_layers * size.width
    order = min(size.train, wide)
    train = bytes_per_layer(num_rows=size.train, width=size.width)
    problem = bytes_per_problem(num_rows=size.train, width=size.width, num_classes=size.num_classes)
    solver = max(train + problem, min(DEFAULT_BYTE_BUDGET, train + num_problems * problem))
    logits = 6 * size.rows * size.num_layers * size.num_classes * 4
    axes = min(most_components, order)
    concatenation = 4 * size.train * wide + 4 * 8 * order**2 + 12 * axes * wide + 12 * axes * size.rows
    kept = min(components, order) + (size.num_layers + 1) * size.num_classes
    coordinates = 6 * 4 * size.rows * kept
    classifiers = 2 * num_classifiers * 4 * kept * wide
    held = held_bytes(num_rows=size.train, num_layers=size.num_layers, width=size.width)
    held += 2 * held_bytes(
        num_rows=(size.rows - size.train + 1) // 2, num_layers=size.num_layers, width=size.width
    )
    return (
        held
        + solver
        + logits
        + concatenation
        + coordinates
        + classifiers
        + 8 * BLOCK_BYTES
        + RESAMPLING_BYTES
    )
