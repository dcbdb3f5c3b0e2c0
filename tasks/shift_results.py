"""What an evaluation under shift leaves: where it lies, and the content of its files.

n = test rows, R = seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from jaxtyping import Int64
from safetensors.torch import load, save
from torch import Tensor

from tasks.shift_request import ShiftRequest
from tasks.stored_results import json_bytes
from vitgeom.errors import CorruptData
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

RESULT_VERSION = 1
"""Part of every address: raise it when the meaning or the layout of the files changes."""

EVALUATION, PREDICTIONS = "evaluation.json", "predictions.safetensors"
REQUIRED = (EVALUATION, PREDICTIONS)
TARGET = "target"
"""Tensor in the file of predictions that is no method's."""


def shift_path(request: ShiftRequest) -> str:
    """Return the place below the store's root: ``shift/<shifted set>/<backbone>/<fingerprint>``.

    Args:
        request: Where things are and how many threads compute does not matter.
    """
    _, dataset, backbone, _ = request.address.split("/")
    content = {**request.content(), "version": RESULT_VERSION}
    return f"shift/{dataset}/{backbone}/{fingerprint(content)[:16]}"


def result_files(
    evaluation: Mapping[str, Any],
    *,
    predicted: Mapping[str, Int64[Tensor, "_ n"]],
    target: Int64[Tensor, " n"],
) -> dict[str, bytes]:
    """Return both files by name.

    Args:
        evaluation: The figures.
        predicted: Class indices by method, a line per seed.
        target: The true ones.
    """
    tensors = {**predicted, TARGET: target}
    return {
        EVALUATION: json_bytes(evaluation),
        PREDICTIONS: save(
            {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
        ),
    }


def read_predictions(place: Root) -> tuple[dict[str, Int64[Tensor, "_ n"]], Int64[Tensor, " n"]]:
    """Return the class indices by method, and the true ones.

    Args:
        place: Where an evaluation put its results.

    Raises:
        CorruptData: The file holds something else.
    """
    tensors = load(place.read_bytes(PREDICTIONS))
    if TARGET not in tensors:
        raise CorruptData(
            f"{place.uri}/{PREDICTIONS} holds no {TARGET!r}. Remove the folder and run stage shift again."
        )
    target = tensors.pop(TARGET)
    return tensors, target
