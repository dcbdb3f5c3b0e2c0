"""Layers of a sealed feature store, read one at a time or a few rows of one.   n = rows, L = layers, D = width."""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch
from torch import Tensor

from vitgeom.probes import FunctionLayers
from vitgeom.store.features import FeatureStore


def layer_source(
    store: FeatureStore, split: str, *, token: Literal["cls", "mean"], last_layer: Literal["normed", "raw"]
) -> FunctionLayers:
    """Return the layers of a split as float32 matrices [n, D], or some rows of them, read when asked for.

    Rows come in chunks of the store (``store.rows_per_range`` of them, checked as a whole against their done-marker), so
    a block that holds only whole chunks reads none twice.

    Args:
        store: A complete feature store.
        split: Which rows.
        token: Which token.
        last_layer: ``"normed"`` gives layer L after the backbone's final norm (A1), ``"raw"`` before it.

    Raises:
        InvalidInput: The store does not hold this token.
        IncompleteData: Rows are missing.
    """

    def read_rows(layer: int, start: int, stop: int) -> Tensor:
        rows = slice(start, stop)
        is_last = layer == store.num_layers - 1
        if is_last and last_layer == "normed":
            values = store.read(split, f"{token}_normed", rows=rows)
        else:
            values = store.read(split, token, layer=layer, rows=rows)
        return torch.from_numpy(np.array(values, dtype=np.float32))

    return FunctionLayers(num_layers=store.num_layers, read_rows=read_rows, num_rows=store.layout.rows(split))
