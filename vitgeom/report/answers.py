"""What every method said about each test image of one pair: the content of ``predictions.safetensors``.

n = test images, R = seeds, L = layers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from jaxtyping import Int64
from safetensors import SafetensorError
from safetensors.torch import load
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.pooled import BEST_LAYER, ORACLE, PairOutcomes

TARGET, LAYERS = "target", "layers"


@dataclass(frozen=True, eq=False)
class Answers:
    """Class indices.

    Attributes:
        predicted: Of each method, one line per seed.
        target: The true ones, -1 for a class that training never showed.
        layers: Of each layer's probe.
        best_layer: The layer that validation chose, from 0.
    """

    predicted: Mapping[str, Int64[Tensor, "_ n"]]
    target: Int64[Tensor, " n"]
    layers: Int64[Tensor, "L n"]
    best_layer: int

    def outcomes(self, dataset: str) -> PairOutcomes:
        """Return who was right on each image.

        Args:
            dataset: Label of the dataset.
        """
        right = {name: (given == self.target).double().mean(dim=0) for name, given in self.predicted.items()}
        layers = self.layers == self.target
        return PairOutcomes(
            dataset,
            {**right, ORACLE: layers.any(dim=0).double(), BEST_LAYER: layers[self.best_layer].double()},
        )


def parse_answers(data: bytes, *, best_layer: int, where: str) -> Answers:
    """Read the predictions of one pair.

    Args:
        data: Content of the file.
        best_layer: The layer that validation chose, from 0.
        where: What the pair is called, for the error.

    Raises:
        InvalidInput: It is no such file, or its parts do not belong together.
    """
    try:
        tensors = load(data)
        target, layers = tensors.pop(TARGET), tensors.pop(LAYERS)
        fit = all(given.ndim == 2 and given.shape[1] == len(target) for given in (layers, *tensors.values()))
    except (SafetensorError, KeyError, TypeError) as error:
        raise InvalidInput(
            f"the predictions of {where} cannot be read ({type(error).__name__}: {error}). Run the stage again that made them."
        ) from error
    if not fit or not 0 <= best_layer < len(layers):
        shapes = {name: list(given.shape) for name, given in {**tensors, LAYERS: layers}.items()}
        raise InvalidInput(
            f"the predictions of {where} must be [seeds, {len(target)}] and hold layer {best_layer}, got {shapes}. "
            "Run the stage again that made them."
        )
    return Answers(tensors, target, layers, best_layer)


def same_images(one: Answers, other: Answers) -> bool:
    """Say whether two pairs were asked about the same images, as far as their true classes tell."""
    return torch.equal(one.target, other.target)
