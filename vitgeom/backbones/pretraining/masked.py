"""Masked pre-training without labels: from some patches of a picture, say what the others show.

What is predicted of a hidden patch is its histogram of oriented gradients and its mean colour (C. Wei et al. 2022 predict the former):
a small decoder sees the encoded visible patches, the class token and the registers. The class token is asked, alone and by one linear
map, for the gradients of all patches and the colours of a coarse grid, so that it learns to sum up the picture. The encoder sees visible
patches only (K. He et al. 2022), which saves more than half of the time. Decoder and read-outs are dropped afterwards.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
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
from vitgeom.backbones.pretraining.pictures import draw_from, normalise
from vitgeom.backbones.pretraining.targets import edges_and_colours, patch_targets
from vitgeom.backbones.timm_models import build_plain, plain_block
from vitgeom.seeding import derive_seed, generator_for

NAME = "nano_selfsup"
COARSE = 4


@dataclass(frozen=True)
class MaskedRecipe:
    """Everything that decides the weights, beside the pictures.

    Attributes:
        steps: Number of batches.
        batch: Pictures per step.
        keep: Visible patches of a picture before ``mostly_visible_from``.
        hidden: Patches to predict.
        mostly_visible_from: Share of training after which all patches but the predicted ones are visible.
        shares: Of scenes, photos and digits in a batch.
        decoder_width: Width of the decoder's tokens.
        decoder_blocks: Its depth.
        seed: Of weights, batches, masks and augmentation.
    """

    steps: int = 1600
    batch: int = 48
    keep: int = 24
    hidden: int = 20
    mostly_visible_from: float = 0.85
    shares: tuple[float, float, float] = (0.72, 0.23, 0.05)
    decoder_width: int = 64
    decoder_blocks: int = 2
    seed: int = 0


class Decoder(nn.Module):
    """Predicts hidden patches from the encoded tokens, and the whole picture from the class token."""

    def __init__(self, *, width: int, prefix: int, patches: int, recipe: MaskedRecipe) -> None:
        super().__init__()
        inner = recipe.decoder_width
        self.prefix = prefix
        self.enter = nn.Linear(width, inner)
        self.positions = nn.Parameter(0.02 * torch.randn(1, prefix + patches, inner))
        self.hidden = nn.Parameter(torch.zeros(1, 1, inner))
        self.blocks = nn.Sequential(
            *[plain_block(inner, num_heads=2, mlp_ratio=2.0) for _ in range(recipe.decoder_blocks)]
        )
        self.leave = nn.Sequential(nn.LayerNorm(inner), nn.Linear(inner, ORIENTATIONS + 3))
        self.sum_up = nn.Linear(width, patches * ORIENTATIONS + 3 * COARSE**2)

    def forward(self, tokens: Tensor, visible: Tensor, hidden: Tensor) -> Tensor:
        """Return [n, m, 12] predictions of the hidden patches.

        Args:
            tokens: [n, prefix + visible, D] encoded tokens.
            visible: [n, v] which patches they are.
            hidden: [n, m] which patches to predict.
        """
        positions = self.positions.expand(len(tokens), -1, -1)
        places = positions[:, self.prefix :]
        known = self.enter(tokens) + torch.cat([positions[:, : self.prefix], pick(places, visible)], dim=1)
        asked = self.hidden + pick(places, hidden)
        return self.leave(self.blocks(torch.cat([known, asked], dim=1))[:, -hidden.shape[1] :])


def pretrain(pools: Sequence[Tensor], *, recipe: MaskedRecipe, progress: Callable[[str], None]) -> nn.Module:
    """Train a backbone from scratch on unlabelled pictures.

    Args:
        pools: uint8 pictures of scenes, photos and digits.
        recipe: How.
        progress: Receives one line now and then.

    Returns:
        The timm model, in training mode, without decoder.
    """
    generator = generator_for(recipe.seed, NAME, "batches")
    seed = derive_seed(recipe.seed, NAME, "weights") % 2**32
    model: Any = build_plain(ARCHITECTURES[NAME], DATA_CONFIG, seed=seed).train()
    sample = normalise(torch.cat([pool[:300] for pool in pools]))
    initialise(model, sample, generator=generator_for(recipe.seed, NAME, "initial"))
    total = model.patch_embed.num_patches
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        decoder = Decoder(width=model.embed_dim, prefix=model.num_prefix_tokens, patches=total, recipe=recipe)
    everything = [*model.parameters(), *decoder.parameters()]
    descent = Descent([*model.blocks, *decoder.blocks], everything, steps=recipe.steps, rates=Rates())
    spread = patch_targets(sample).std(dim=(0, 1))
    for number in range(recipe.steps):
        images = augment(
            normalise(draw_from(pools, recipe.shares, recipe.batch, generator=generator)), generator=generator
        )
        keep = recipe.keep if number < recipe.mostly_visible_from * recipe.steps else total - recipe.hidden
        order = draw_patches(len(images), total=total, keep=keep + recipe.hidden, generator=generator)
        visible, hidden = order[:, :keep], order[:, keep:]
        tokens = encode(model, images, visible)
        histograms, colours = edges_and_colours(images)
        wanted = pick(torch.cat([histograms, colours], dim=2), hidden)
        patch_loss = ((decoder(tokens, visible, hidden) - wanted) / spread).square().mean()
        whole_loss = whole_picture_loss(decoder.sum_up(tokens[:, 0]), histograms, colours, spread=spread)
        descent.step(patch_loss + whole_loss, number)
        if (number + 1) % 100 == 0:
            progress(
                f"masked step {number + 1}/{recipe.steps}: hidden patches {patch_loss.item():.3f}, whole picture {whole_loss.item():.3f}"
            )
    return model


def encode(
    model: Any, images: Float[Tensor, "n 3 h w"], visible: Int[Tensor, "n v"]
) -> Float[Tensor, "n t d"]:
    """Return class token, registers and visible patches after the final norm.

    Args:
        model: timm ViT with class token, registers and learned positions for all tokens.
        images: Normalised pixels.
        visible: Which patches enter.
    """
    prefix = model.num_prefix_tokens
    patches = pick(model.patch_embed(images) + model.pos_embed[:, prefix:], visible)
    first = torch.cat([model.cls_token, model.reg_token], dim=1) + model.pos_embed[:, :prefix]
    return model.norm(model.blocks(torch.cat([first.expand(len(images), -1, -1), patches], dim=1)))


def whole_picture_loss(predicted: Tensor, histograms: Tensor, colours: Tensor, *, spread: Tensor) -> Tensor:
    """Return the mean squared error of what the class token says of the picture, in units of the targets' spread.

    Args:
        predicted: [n, K 9 + 3 C C].
        histograms: [n, K, 9] of all patches.
        colours: [n, K, 3] of all patches, averaged here to a coarse C x C grid.
        spread: [12] standard deviations of histograms and colours.
    """
    side = round(colours.shape[1] ** 0.5)
    coarse = F.adaptive_avg_pool2d(colours.mT.unflatten(2, (side, side)), COARSE).flatten(1)
    shapes = histograms.flatten(1)
    shape_error = (
        ((predicted[:, : shapes.shape[1]] - shapes).unflatten(1, (-1, ORIENTATIONS)) / spread[:ORIENTATIONS])
        .square()
        .mean()
    )
    colour_error = ((predicted[:, shapes.shape[1] :] - coarse) / spread[ORIENTATIONS:].mean()).square().mean()
    return shape_error + 0.5 * colour_error


def augment(images: Float[Tensor, "n 3 h w"], *, generator: torch.Generator) -> Float[Tensor, "n 3 h w"]:
    """Mirror half of the batches, permute channels in half of them, change brightness and tint of every picture.

    Args:
        images: Normalised pixels.
        generator: The only source of randomness.
    """
    mirror, permute = torch.rand(2, generator=generator).tolist()
    if mirror < 0.5:
        images = images.flip(-1)
    if permute < 0.5:
        images = images[:, torch.randperm(3, generator=generator)]
    count = len(images)
    gain = 0.7 + 0.6 * torch.rand(count, 1, 1, 1, generator=generator)
    return images * gain + 0.1 * torch.randn(count, 3, 1, 1, generator=generator)
