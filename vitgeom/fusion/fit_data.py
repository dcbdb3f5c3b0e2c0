"""What an estimator is fitted on: checked training and validation rows with class indices.

n = training rows, m = validation rows, L = layers, K = classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.chosen_rows import ChosenRows
from vitgeom.fusion.folds import inner_validation
from vitgeom.probes.labels import Labels, class_ids, class_index, label_array
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.row_access import as_rows, read_rows
from vitgeom.seeding import generator_for


@dataclass(frozen=True, eq=False)
class FitData:
    """Rows that weights are fitted on, and rows that choices are made on.

    Attributes:
        train: Training features.
        target: Their class indices.
        val: Validation features, of the same layers and widths.
        val_target: Their class indices; -1 for a class that training never showed, which counts as wrong.
        classes: Original ids; class index k stands for ``classes[k]``.
    """

    train: RowSource
    target: Int64[Tensor, " n"]
    val: RowSource
    val_target: Int64[Tensor, " m"]
    classes: np.ndarray

    @property
    def num_classes(self) -> int:
        """K."""
        return len(self.classes)

    @property
    def widths(self) -> tuple[int, ...]:
        """Width of every layer."""
        return layer_widths(self.train)


def layer_widths(source: RowSource) -> tuple[int, ...]:
    """Return the width of every layer of a source that has rows."""
    return tuple(source.rows(layer, 0, 1).shape[1] for layer in range(source.num_layers))


def fit_data(
    X: Features,
    y: Labels,
    X_val: Features | None,
    y_val: Labels | None,
    *,
    val_fraction: float,
    seed: int,
) -> FitData:
    """Check what a caller gave, and hold training rows out for choices where no validation rows were given.

    Args:
        X: Training features ``[n, L, D]`` or a source of them.
        y: Labels of any kind.
        X_val: Validation features; None to hold out a stratified part of the training rows.
        y_val: Their labels.
        val_fraction: Share to hold out, used only without ``X_val``.
        seed: Decides which.

    Raises:
        InvalidInput: One class only, no rows, only one of ``X_val`` and ``y_val``, or shapes that do not match.
    """
    if (X_val is None) != (y_val is None):
        given, missing = ("X_val", "y_val") if y_val is None else ("y_val", "X_val")
        raise InvalidInput(f"{given} was given without {missing}; give both, or neither for an inner split.")
    train, labels = as_rows(X, name="X"), label_array(y, name="y")
    _match(train, len(labels), name="X", labels="y")
    classes = class_ids(labels)
    target = class_index(labels, classes)
    if X_val is None or y_val is None:
        return _split_off(train, target, classes=classes, fraction=val_fraction, seed=seed)
    val, val_labels = as_rows(X_val, name="X_val"), label_array(y_val, name="y_val")
    if len(val_labels) == 0:
        raise InvalidInput(
            "y_val must hold at least 1 row, got 0: choices are made on validation; leave X_val and y_val out to hold training rows out."
        )
    _match(val, len(val_labels), name="X_val", labels="y_val")
    if layer_widths(val) != layer_widths(train):
        raise InvalidInput(
            f"X_val must have the layers and widths of X, got widths {layer_widths(val)} against {layer_widths(train)}."
        )
    return FitData(train, target, val, class_index(val_labels, classes), classes)


def _match(source: RowSource, count: int, *, name: str, labels: str) -> None:
    if source.num_rows != count:
        raise InvalidInput(
            f"{name} must have one row per label, got {source.num_rows} rows and {count} labels in {labels}."
        )
    for layer in range(source.num_layers):
        read_rows(source, layer, 0, min(1, count), name=name)


def _split_off(
    train: RowSource, target: Int64[Tensor, " n"], *, classes: np.ndarray, fraction: float, seed: int
) -> FitData:
    held_out = inner_validation(target, fraction=fraction, generator=generator_for(seed, "inner validation"))
    kept, out = (~held_out).nonzero()[:, 0], held_out.nonzero()[:, 0]
    fitted, held = ChosenRows(train, kept, name="X"), ChosenRows(train, out, name="X")
    return FitData(fitted, target[kept], held, target[out], classes)


def require_same_layers(source: RowSource, widths: tuple[int, ...]) -> None:
    """Refuse features of other layers than a model was fitted on.

    Args:
        source: Features to predict on.
        widths: Width of each layer in training.

    Raises:
        InvalidInput: Another number of layers or another width.
    """
    if source.num_rows == 0:
        raise InvalidInput("X must hold at least 1 row, got 0.")
    if source.num_layers != len(widths):
        raise InvalidInput(
            f"X must have the {len(widths)} layers of training, got {source.num_layers}; was the model fitted on another backbone?"
        )
    found = layer_widths(source)
    if found != widths:
        layer = next(at for at, (one, other) in enumerate(zip(found, widths, strict=True)) if one != other)
        raise InvalidInput(
            f"X must have the training width {widths[layer]} at layer {layer}, got {found[layer]}; was the model fitted on another backbone?"
        )
