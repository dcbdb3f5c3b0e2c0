"""Class labels of any kind (integers or strings) to row indices and back.   n = rows, K = classes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from jaxtyping import Int64
from torch import Tensor

from vitgeom.errors import InvalidInput

Labels = Tensor | np.ndarray | Sequence[int] | Sequence[str]

UNKNOWN_CLASS = -1
"""Index of a label that the probes were never shown: it can only be counted as wrong."""


def label_array(y: Labels, *, name: str) -> np.ndarray:
    """Return labels as one array of int64 or of text.

    Args:
        y: n integers or n strings, of which an array of objects (a column of a table) may consist too.
        name: Name of the argument, for the error message.

    Returns:
        An array ``[n]`` of dtype int64 or ``<U``.

    Raises:
        InvalidInput: ``y`` is not one-dimensional, holds neither integers nor strings, or an integer beyond 64 bits.
    """
    array = y.detach().cpu().numpy() if isinstance(y, Tensor) else np.asarray(y)
    if array.dtype.kind == "O" and array.size and all(isinstance(label, str) for label in array.flat):
        array = array.astype(str)
    if array.ndim != 1:
        raise InvalidInput(f"{name} must be one label per row, shape [n], got shape {list(array.shape)}.")
    if array.size == 0:
        return array.astype(np.int64) if array.dtype.kind != "U" else array
    if array.dtype.kind in "iu":
        if int(array.max()) > np.iinfo(np.int64).max:
            raise InvalidInput(
                f"{name} must hold integers below 2^63, got {int(array.max())}; `{name}.astype(str)` keeps them as names."
            )
        return array.astype(np.int64)
    if array.dtype.kind == "U":
        return array
    raise InvalidInput(
        f"{name} must hold integers or strings, got {array.dtype}; convert the labels, for example with "
        f"`{name}.astype(int)` or `{name}.astype(str)`."
    )


def class_ids(y: np.ndarray) -> np.ndarray:
    """Return the sorted distinct labels; a label's place in them is its class index.

    Args:
        y: Labels ``[n]`` from :func:`label_array`.

    Raises:
        InvalidInput: Fewer than two classes.
    """
    classes = np.unique(y)
    if len(classes) < 2:
        found = repr(classes.tolist()[0]) if len(classes) else "no label"
        raise InvalidInput(
            f"y must hold at least 2 classes, got only {found} in {len(y)} rows; a probe has nothing to tell "
            "apart: check the label column, or add rows of another class."
        )
    return classes


def class_index(y: np.ndarray, classes: np.ndarray) -> Int64[Tensor, " n"]:
    """Return each label's index in ``classes``, or :data:`UNKNOWN_CLASS` for a label that is not there.

    Args:
        y: Labels ``[n]``.
        classes: Sorted class ids ``[K]``.

    Raises:
        InvalidInput: Labels are strings where the classes are integers, or the reverse.
    """
    if len(y) and (y.dtype.kind == "U") != (classes.dtype.kind == "U"):
        raise InvalidInput(
            f"labels of kind {y.dtype} do not match the classes of kind {classes.dtype}; "
            "give both splits their labels in the same form."
        )
    if not len(y):
        return torch.empty(0, dtype=torch.int64)
    place = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    return torch.from_numpy(np.where(classes[place] == y, place, UNKNOWN_CLASS).astype(np.int64))
