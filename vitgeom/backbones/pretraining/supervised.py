"""Supervised pre-training on rendered scenes: the class token learns the shape of the central object.

From block 8 a second, linear read-out of the patch tokens learns which patches the object covers, their normals and depth.
This shortens training several times (the patches find the object early). A third read-out asks the class token for the picture's mean colour
and mean edge directions, so that the last layer does not forget everything but shape. All read-outs are dropped afterwards.
Until the last part of training only some patches enter, more of them from the middle, which saves half the time.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float, Int
from torch import Tensor, nn

from vitgeom.backbones.embedded import ARCHITECTURES, DATA_CONFIG
from vitgeom.backbones.pretraining.gradients import ORIENTATIONS
from vitgeom.backbones.pretraining.initial import initialise
from vitgeom.backbones.pretraining.optimisation import Descent, Rates
from vitgeom.backbones.pretraining.patches import draw_patches, pick
from vitgeom.backbones.pretraining.pictures import ScenePool, normalise
from vitgeom.backbones.pretraining.targets import patch_targets
from vitgeom.backbones.timm_models import build_plain
from vitgeom.seeding import derive_seed, generator_for

NAME = "nano_supervised"


@dataclass(frozen=True)
class SupervisedRecipe:
    """Everything that decides the weights, beside the pictures.

    Attributes:
        steps: Number of batches.
        batch: Scenes per step.
        keep: Patches of a picture that enter before ``all_patches_from``.
        all_patches_from: Share of training after which every patch enters.
        geometry_block: Block (1-based) after which patches are asked for geometry.
        summary_weight: Of the mean colour and edge directions in the loss.
        seed: Of weights, batches and augmentation.
    """

    steps: int = 1600
    batch: int = 32
    keep: int = 28
    all_patches_from: float = 0.85
    geometry_block: int = 8
    summary_weight: float = 0.3
    seed: int = 0


@dataclass(frozen=True, eq=False)
class Batch:
    """Augmented scenes: pixels, class, and target [n, K, 5] per patch (share covered, normal, log depth)."""

    images: Tensor
    labels: Tensor
    geometry: Tensor


def pretrain(pool: ScenePool, *, recipe: SupervisedRecipe, progress: Callable[[str], None]) -> nn.Module:
    """Train a backbone from scratch.

    Args:
        pool: Rendered scenes.
        recipe: How.
        progress: Receives one line now and then.

    Returns:
        The timm model, in training mode, without read-outs.
    """
    generator = generator_for(recipe.seed, NAME, "batches")
    seed = derive_seed(recipe.seed, NAME, "weights") % 2**32
    model: Any = build_plain(ARCHITECTURES[NAME], DATA_CONFIG, seed=seed).train()
    initialise(model, normalise(pool.images[:500]), generator=generator_for(recipe.seed, NAME, "initial"))
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        classify = nn.Linear(model.embed_dim, int(pool.labels.max()) + 1)
        describe = nn.Linear(model.embed_dim, 5)
        sum_up = nn.Linear(model.embed_dim, ORIENTATIONS + 3)
    everything = [p for part in (model, classify, describe, sum_up) for p in part.parameters()]
    descent = Descent(model.blocks, everything, steps=recipe.steps, rates=Rates())
    spread = patch_targets(normalise(pool.images[:500])).mean(1).std(0)
    correct = 0.0
    for number in range(recipe.steps):
        batch = draw_batch(pool, recipe.batch, generator=generator)
        chosen = choose_patches(
            number, batch, recipe=recipe, grid=model.patch_embed.grid_size, generator=generator
        )
        normed_cls, described = forward(model, batch.images, chosen, geometry_block=recipe.geometry_block)
        logits = classify(normed_cls)
        loss = F.cross_entropy(logits, batch.labels, label_smoothing=0.05)
        geometry = geometry_loss(describe(described), pick(batch.geometry, chosen))
        summary = (sum_up(normed_cls) - patch_targets(batch.images).mean(1)) / spread
        descent.step(loss + geometry + recipe.summary_weight * summary.square().mean(), number)
        correct = 0.98 * correct + 0.02 * float((logits.argmax(1) == batch.labels).float().mean())
        if (number + 1) % 100 == 0:
            progress(
                f"supervised step {number + 1}/{recipe.steps}: train accuracy {correct:.3f}, loss {loss.item():.3f}"
            )
    return model


def draw_batch(pool: ScenePool, count: int, *, generator: torch.Generator) -> Batch:
    """Draw scenes with replacement; half of the batches mirrored, half with channels permuted, brightness changed.

    Args:
        pool: Rendered scenes.
        count: n.
        generator: The only source of randomness.
    """
    rows = torch.randint(len(pool.images), (count,), generator=generator)
    images = normalise(pool.images[rows])
    geometry = torch.cat([pool.target[rows, :, None], pool.normals[rows], pool.depth[rows, :, None]], dim=2)
    if float(torch.rand(1, generator=generator)) < 0.5:
        images, geometry = images.flip(-1), mirrored(geometry)
    if float(torch.rand(1, generator=generator)) < 0.5:
        images = images[:, torch.randperm(3, generator=generator)]
    images = images * (0.7 + 0.6 * torch.rand(count, 1, 1, 1, generator=generator))
    return Batch(images, pool.labels[rows], geometry)


def mirrored(geometry: Float[Tensor, "n k 5"]) -> Float[Tensor, "n k 5"]:
    """Return the geometry of the pictures seen in a mirror: columns in reverse, normals pointing the other way across.

    Args:
        geometry: Of a square grid of patches, row by row.
    """
    side = round(geometry.shape[1] ** 0.5)
    flipped = geometry.unflatten(1, (side, side)).flip(2).flatten(1, 2)
    return flipped * torch.tensor([1.0, -1.0, 1.0, 1.0, 1.0])


def choose_patches(
    number: int, batch: Batch, *, recipe: SupervisedRecipe, grid: tuple[int, int], generator: torch.Generator
) -> Int[Tensor, "n m"]:
    """Return which patches enter at a step.

    Args:
        number: Of the step.
        batch: Its pictures.
        recipe: Says how many.
        grid: Rows and columns of patches.
        generator: The only source of randomness.
    """
    total = grid[0] * grid[1]
    keep = recipe.keep if number < recipe.all_patches_from * recipe.steps else total
    rows, columns = torch.meshgrid(
        torch.arange(grid[0]).float(), torch.arange(grid[1]).float(), indexing="ij"
    )
    centre = -((rows - (grid[0] - 1) / 2) ** 2 + (columns - (grid[1] - 1) / 2) ** 2).flatten() / 8
    return draw_patches(len(batch.images), total=total, keep=keep, generator=generator, weight=centre)


def forward(model: Any, images: Tensor, chosen: Tensor, *, geometry_block: int) -> tuple[Tensor, Tensor]:
    """Return the class token after the final norm [n, D], and the chosen patches after ``geometry_block`` [n, m, D].

    Args:
        model: timm ViT with one class token and learned positions for all tokens.
        images: Normalised pixels.
        chosen: Patches that enter.
        geometry_block: 1-based.
    """
    patches = pick(model.patch_embed(images) + model.pos_embed[:, 1:], chosen)
    cls = (model.cls_token + model.pos_embed[:, :1]).expand(len(images), -1, -1)
    tokens = torch.cat([cls, patches], dim=1)
    described = patches
    for number, block in enumerate(model.blocks, start=1):
        tokens = block(tokens)
        if number == geometry_block:
            described = tokens[:, 1:]
    return model.norm(tokens[:, 0]), described


def geometry_loss(predicted: Float[Tensor, "n m 5"], wanted: Float[Tensor, "n m 5"]) -> Tensor:
    """Return the weighted sum of the three losses per patch.

    Args:
        predicted: Logit of the covered share, normal, log depth.
        wanted: Covered share, normal, log depth.
    """
    covered = F.binary_cross_entropy_with_logits(predicted[..., 0], wanted[..., 0])
    normals = (predicted[..., 1:4] - wanted[..., 1:4]).square().mean()
    depth = (predicted[..., 4] - wanted[..., 4]).square().mean()
    return 2 * covered + 3 * normals + depth
