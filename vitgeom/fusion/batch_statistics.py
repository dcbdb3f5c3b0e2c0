"""Layers brought back to the means and deviations of training with the statistics of the test rows themselves.

Adapting the statistics of normalisation layers to the test set (Li et al. 2017, AdaBN; Nado et al. 2020; Schneider et al. 2020), applied here to
the frozen features that a classifier reads instead of to layers inside a network.

n = rows, b = rows of a block, L = layers, D = width.
"""

from __future__ import annotations

from typing import overload

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.backbone_rows import BackboneRows, backbone_rows
from vitgeom.fusion.layer_moments import LayerMoments, layer_moments
from vitgeom.probes.byte_budget import in_memory
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.row_access import as_rows, read_rows

MIN_ROWS = 64
"""Fewest test rows: with n of them a mean is off by about 1 / sqrt(n) deviations, an eighth here, and a deviation by about a tenth of itself."""


class RestandardisedRows:
    """x' = (x - mean) / sd * sd_train + mean_train, coordinate by coordinate; nothing is kept, every block is made when asked for."""

    def __init__(
        self, source: RowSource, *, own: LayerMoments, like: LayerMoments, in_memory: bool = False
    ) -> None:
        """Keep references.

        Args:
            source: Raw features.
            own: Moments of these rows.
            like: Moments of the training rows, of the same layers and widths.
            in_memory: Whether the raw features are in memory anyway.
        """
        self._source, self._own, self._like, self.in_memory = source, own, like, in_memory

    @property
    def num_rows(self) -> int:
        """The number n of rows."""
        return self._source.num_rows

    @property
    def num_layers(self) -> int:
        """L, the number of layers."""
        return self._source.num_layers

    def rows(self, layer: int, start: int, stop: int) -> Float[Tensor, "b D"]:
        """Return some rows of one layer, in the number format of the source but at least float32.

        Raises:
            InvalidInput: A value is NaN or infinite (row and layer named).
        """
        x = read_rows(self._source, layer, start, stop, name="X")
        deviation, wanted = self._own.deviations[layer], self._like.deviations[layer]
        # A coordinate that is the same in all test rows holds nothing to scale: it is moved to the training mean.
        scale = torch.where(deviation > 0, wanted / deviation, 1.0)
        moved = x.to(torch.float64, copy=True).sub_(self._own.means[layer]).mul_(scale)
        return moved.add_(self._like.means[layer]).to(torch.promote_types(x.dtype, torch.float32))


@overload
def with_batch_statistics(
    X: list[Features] | tuple[Features, ...], *, like: LayerMoments | list[Features] | tuple[Features, ...]
) -> BackboneRows: ...


@overload
def with_batch_statistics(X: Features, *, like: LayerMoments | Features) -> RestandardisedRows: ...


def with_batch_statistics(
    X: Features | list[Features] | tuple[Features, ...],
    *,
    like: LayerMoments | Features | list[Features] | tuple[Features, ...],
) -> RestandardisedRows | BackboneRows:
    """Return test rows whose every layer has the mean and the deviation of training in every coordinate.

    x' = (x - mean) / sd * sd_train + mean_train with mean and sd of all rows of X together; no label is used and nothing is refitted:

        clf.predict(with_batch_statistics(X_test, like=X_train))

    **What it takes.** The answer on one image depends on the other images of X (it is transductive). X must hold many images that underwent the
    same change, with roughly the mix of classes of training: of a batch of one class the difference between classes is what gets
    removed. On images one at a time, or from several sources in one batch, it is wrong to use. Where nothing changed it costs accuracy,
    because the statistics of a test set are those of training plus sampling noise.

    Statistics are in float64; each layer is read once for them, a block of rows at a time, and again when the rows are asked for. A coordinate
    that is the same in all test rows is only moved, to the training mean.

    Args:
        X: Unlabelled test features ``[n, L, D]``, a source of rows, or a list with one entry per backbone as HFusion takes them.
        like: The training features that the classifier was fitted on, in the same form, or their ``layer_moments``.

    Returns:
        A source of rows that every classifier takes in place of X; for a list one that HFusion takes.

    Raises:
        InvalidInput: Fewer than ``MIN_ROWS`` test rows, other layers or widths than in training, fewer than two training rows, or a NaN or
            infinite value (row and layer named).
    """
    if isinstance(X, list | tuple):
        blocks = backbone_rows(X, name="X")
        adapted = _restandardised(blocks, _moments_of(like), in_memory=blocks.in_memory)
        sources = [_OneBlock(adapted, block) for block in range(adapted.num_layers)]
        return BackboneRows(sources, in_memory=adapted.in_memory)
    return _restandardised(as_rows(X, name="X"), _moments_of(like), in_memory=in_memory(X))


class _OneBlock:
    """One block of a source, as a source of that block alone."""

    num_layers = 1

    def __init__(self, source: RowSource, block: int) -> None:
        self._source, self._block, self.num_rows = source, block, source.num_rows

    def rows(self, layer: int, start: int, stop: int) -> Tensor:
        return self._source.rows(self._block, start, stop)


def _moments_of(like: object) -> LayerMoments:
    if isinstance(like, LayerMoments):
        return like
    source = (
        backbone_rows(like, name="like") if isinstance(like, list | tuple) else as_rows(like, name="like")
    )
    if source.num_rows < 2:
        raise InvalidInput(
            f"like must hold at least 2 training rows, got {source.num_rows}. Give the rows that the classifier was fitted on, or their layer_moments."
        )
    return layer_moments(source, name="like")


def _restandardised(source: RowSource, like: LayerMoments, *, in_memory: bool) -> RestandardisedRows:
    if source.num_rows < MIN_ROWS:
        raise InvalidInput(
            f"X must hold at least {MIN_ROWS} test rows of one condition to take statistics of, got {source.num_rows}. Collect more, or "
            "predict on X as it is."
        )
    own = layer_moments(source, name="X")
    if own.widths != like.widths:
        raise InvalidInput(
            f"X must have the layers and widths of the training rows, got widths {own.widths} against {like.widths}; are these of another backbone?"
        )
    return RestandardisedRows(source, own=own, like=like, in_memory=in_memory)
