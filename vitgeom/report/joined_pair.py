"""The methods on several backbones beside those on one: one table for horizontal, vertical and logit-level fusion.   n = test images, R = seeds."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vitgeom.errors import InvalidInput
from vitgeom.fusion.comparison import compare
from vitgeom.report.answers import same_images
from vitgeom.report.fused_pair import FusedPair, MethodRow

HORIZONTAL = "horizontal"


def joined(pair: FusedPair, across: Sequence[FusedPair]) -> FusedPair:
    """Return a pair with the rows of the methods on several backbones of its dataset, compared on the same test images.

    Args:
        pair: Methods on one backbone.
        across: Comparisons over several backbones; those of other datasets are passed over.

    Raises:
        InvalidInput: The test images of the two are not the same.
    """
    for other in across:
        if other.dataset == pair.dataset:
            for row in other.methods:
                if row.family == HORIZONTAL:
                    pair = _with_row(pair, other, row)
    return pair


def _with_row(pair: FusedPair, other: FusedPair, row: MethodRow) -> FusedPair:
    mine, theirs, table = pair.answers, other.answers, pair.comparison
    if not same_images(mine, theirs):
        raise InvalidInput(
            f"{other.label} and {pair.label} must have the same test images in the same order, but their true classes differ. "
            "Run the stages fuse and horizontal again."
        )
    reference = table.reference
    given = {reference: mine.predicted[reference], row.name: theirs.predicted[row.name]}
    score = compare(
        given,
        mine.target,
        layer_predictions=mine.layers,
        best_layer=mine.best_layer,
        reference=reference,
        seed=0,
        num_resamples=table.num_bootstrap,
    ).row(row.name)
    answers = replace(mine, predicted={**mine.predicted, row.name: theirs.predicted[row.name]})
    return replace(
        pair,
        comparison=replace(table, rows=(*table.rows, score)),
        methods=(*pair.methods, replace(row, score=score)),
        answers=answers,
    )
