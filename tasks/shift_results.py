"""What an evaluation under shift leaves: where it lies, and the content of its files.

n = test rows, R = seeds.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float64, Int64
from safetensors.torch import load, save
from torch import Generator, Tensor

from tasks.shift_request import ShiftRequest
from tasks.stored_results import json_bytes
from vitgeom.errors import CorruptData
from vitgeom.fusion.adapted_scores import adapted_scores
from vitgeom.fusion.batch_statistics import MIN_ROWS
from vitgeom.fusion.under_shift import share_right
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.uri import Root

RESULT_VERSION = 2
"""Part of every address: raise it when the meaning or the layout of the files changes."""

EVALUATION, PREDICTIONS = "evaluation.json", "predictions.safetensors"
REQUIRED = (EVALUATION, PREDICTIONS)
TARGET = "target"
"""Tensor in the file of predictions that is no method's."""
CLEAN = "clean"
"""Name that the clean test split has among the sets."""
ADAPTED = "batch_statistics/"
"""What stands before a method's name where it was asked about rows with batch statistics."""


@dataclass(frozen=True, eq=False)
class ShiftAnswers:
    """What every classifier says about each test row.

    Attributes:
        as_is: Class indices by method, a line per seed, on rows as they are.
        adapted: The same on rows with batch statistics; empty where there were too few rows for these.
        target: The true ones, -1 for a class that training never showed.
    """

    as_is: Mapping[str, Int64[Tensor, "_ n"]]
    adapted: Mapping[str, Int64[Tensor, "_ n"]]
    target: Int64[Tensor, " n"]

    def right(self) -> dict[str, Float64[Tensor, " n"]]:
        """Return for each method the share of seeds that are right on each row as it is."""
        return {name: share_right(given, self.target) for name, given in self.as_is.items()}

    def right_adapted(self) -> dict[str, Float64[Tensor, " n"]]:
        """Return the same with batch statistics."""
        return {name: share_right(given, self.target) for name, given in self.adapted.items()}


def shift_path(request: ShiftRequest) -> str:
    """Return the place below the store's root: ``shift/<shifted set>/<backbone>/<fingerprint>``.

    Args:
        request: Where things are and how many threads compute does not matter.
    """
    _, dataset, backbone, _ = request.address.split("/")
    content = {**request.content(), "version": RESULT_VERSION}
    return f"shift/{dataset}/{backbone}/{fingerprint(content)[:16]}"


def batch_statistics(
    right: Mapping[str, Float64[Tensor, " _"]],
    adapted: Mapping[str, Float64[Tensor, " _"]],
    *,
    num_bootstrap: int,
    generator: Generator,
) -> dict[str, Any]:
    """Return the figures with batch statistics as plain JSON: a row per method, or the reason why there is none.

    Args:
        right: Share of right answers per row as it is, by method.
        adapted: The same with batch statistics; empty where there are none.
        num_bootstrap: Resamples behind each interval.
        generator: The only source of randomness.
    """
    if not adapted:
        count = len(next(iter(right.values())))
        refused = f"{count} test images are fewer than the {MIN_ROWS} that batch statistics are taken of"
        return {"min_rows": MIN_ROWS, "refused": refused, "rows": []}
    scores = adapted_scores(right, adapted, num_resamples=num_bootstrap, generator=generator)
    return {"min_rows": MIN_ROWS, "refused": None, "rows": [score.to_json() for score in scores]}


def result_files(evaluation: Mapping[str, Any], answers: ShiftAnswers) -> dict[str, bytes]:
    """Return both files by name.

    Args:
        evaluation: The figures.
        answers: Behind them.
    """
    adapted = {f"{ADAPTED}{name}": given for name, given in answers.adapted.items()}
    tensors = {**answers.as_is, **adapted, TARGET: answers.target}
    return {
        EVALUATION: json_bytes(evaluation),
        PREDICTIONS: save(
            {name: tensor.clone(memory_format=torch.contiguous_format) for name, tensor in tensors.items()}
        ),
    }


def read_answers(place: Root) -> ShiftAnswers:
    """Return what an evaluation put into its file of predictions.

    Args:
        place: Where it put its results.

    Raises:
        CorruptData: The file holds something else.
    """
    tensors = load(place.read_bytes(PREDICTIONS))
    if TARGET not in tensors:
        raise CorruptData(
            f"{place.uri}/{PREDICTIONS} holds no {TARGET!r}. Remove the folder and run stage shift again."
        )
    target = tensors.pop(TARGET)
    return ShiftAnswers(
        as_is={name: given for name, given in tensors.items() if not name.startswith(ADAPTED)},
        adapted={
            name.removeprefix(ADAPTED): given for name, given in tensors.items() if name.startswith(ADAPTED)
        },
        target=target,
    )
