"""What a network learns from targets of different recipes, judged by exact ones: class token of an embedded backbone on rendered scenes.

The same images, the same seeds; only how the training and validation targets were made differs. ``exact`` is deterministic. The ceiling of a recipe is what its own targets
of the test images agree with the exact ones.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from tests.benchmarks.rows import Row, table
from vitgeom.backbones import load_backbone
from vitgeom.bootstrap import bootstrap_interval
from vitgeom.data import DatasetRef, open_dataset
from vitgeom.decoders import jacobian_of, load_decoder
from vitgeom.metric import SpectralPullbackNetwork
from vitgeom.metric.alignment import alignment, random_alignment
from vitgeom.metric.training import (
    InMemoryExamples,
    SpnLearner,
    TrainingSettings,
    figures_per_image,
    train,
)
from vitgeom.seeding import generator_for
from vitgeom.spectra import diagnose

BACKBONE, DECODER, LAYER, RANK = "nano_supervised", "cls", 10, 20
IMAGES = {"train": 200, "val": 40, "test": 40}
RECIPES = {"exact": 200, "krylov": 200, "reference": 200}
"""Recipe -> single products per image; ``exact`` takes 96, whatever it is given."""


@dataclass(frozen=True)
class Targets:
    """Targets of one split.

    Attributes:
        examples: Tokens, directions, energies.
        vectors: Directions [n, N D, R].
    """

    examples: InMemoryExamples
    vectors: Tensor


def targets(split: str, recipe: str) -> Targets:
    """Diagnose the first images of a split of the scenes.

    Args:
        split: Which one.
        recipe: How.
    """
    backbone = load_backbone(BACKBONE)
    decoder = load_decoder(DECODER, backbone, layer=LAYER)
    images = open_dataset(DatasetRef("scenes")).splits[split]
    features, vectors, sigma = [], [], []
    for row in range(IMAGES[split]):
        bound = decoder.at(backbone.preprocess(images.read(row)))
        found = diagnose(
            jacobian_of(bound, backbone),
            rank=RANK,
            recipe=recipe,
            budget=RECIPES[recipe],
            generator=generator_for(0, "recipes", split, row),
        )
        features.append(bound.features)
        vectors.append(found.right_NDR.float())
        sigma.append(found.singular_values_R.float())
    stacked = torch.stack(vectors)
    examples = InMemoryExamples(
        {
            "features": torch.stack(features),
            "right_vectors": stacked,
            "singular_values": torch.stack(sigma),
            "num_found": torch.full((len(features),), RANK),
        }
    )
    return Targets(examples, stacked.flatten(1, 2))


def measure() -> list[Row]:
    """One row per recipe."""
    torch.set_num_threads(1)
    exact = targets("test", "exact")
    return [compared(recipe, exact) for recipe in RECIPES]


def compared(recipe: str, exact: Targets) -> Row:
    """Train on one recipe's targets and judge by exact ones.

    Args:
        recipe: Which.
        exact: Of the test images.
    """
    spec = load_backbone(BACKBONE).spec
    network = SpectralPullbackNetwork(spec.width, RANK, num_prefix=spec.layout.num_prefix, seed=0)
    learner = SpnLearner(network)
    train(learner, targets("train", recipe).examples, targets("val", recipe).examples, TrainingSettings())
    values = figures_per_image(learner, exact.examples, batch_size=8)["alignment"]
    own = exact if recipe == "exact" else targets("test", recipe)
    ceiling = alignment(own.vectors, exact.vectors, num_found=torch.full((len(exact.vectors),), RANK))
    interval = bootstrap_interval(values, num_resamples=1000, generator=generator_for(0, "recipes", recipe))
    tokens = spec.layout.num_tokens
    return Row(
        name=f"network learnt from {recipe} targets, {BACKBONE}, class token from layer {LAYER}: V1 with exact directions of {len(values)} test scenes",
        bar="reported",
        peer=f"{float(ceiling.mean()):.4f} (these targets themselves)",
        ours=f"{interval.value:.3f} ({interval.low:.3f} to {interval.high:.3f})",
        ratio=interval.value / float(ceiling.mean()),
        passed=True,
        runs=1,
        note=f"deviation {values.std():.3f}; chance {random_alignment(RANK, num_tokens=tokens, dim=spec.width):.4f}; {IMAGES['train']} training images, default settings, one seed",
    )


if __name__ == "__main__":
    print(table(measure()))
