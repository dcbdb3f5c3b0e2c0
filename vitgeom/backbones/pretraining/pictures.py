"""What the embedded backbones learn from: rendered scenes with their geometry, and unlabelled pictures of the train splits.

Pixels are uint8 [n, 3, H, W] until a batch is drawn. No validation or test image is ever opened here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor

from vitgeom.backbones.embedded import DATA_CONFIG
from vitgeom.data import DatasetRef, open_dataset
from vitgeom.data.reference import Scalar
from vitgeom.data.scenes import Scene, scene_stream

PATCH = 8


@dataclass(frozen=True, eq=False)
class ScenePool:
    """Rendered scenes of the pre-training stream, n of them with K patches each.

    Attributes:
        images: uint8 [n, 3, H, W].
        labels: [n] shape of the central object.
        target: [n, K] share of a patch that the central object covers.
        normals: [n, K, 3] mean surface normal in camera coordinates.
        depth: [n, K] mean logarithm of the depth.
    """

    images: UInt8[Tensor, "n 3 h w"]
    labels: Int[Tensor, " n"]
    target: Float[Tensor, "n k"]
    normals: Float[Tensor, "n k 3"]
    depth: Float[Tensor, "n k"]


def render_pool(count: int, *, seed: int) -> ScenePool:
    """Render the first ``count`` scenes of the pre-training stream. Cost: about 12 ms each.

    Args:
        count: n.
        seed: Of the stream.
    """
    rows = [_summary(scene) for scene in scene_stream(seed, 0, count)]
    images, labels, target, normals, depth = (np.stack(column) for column in zip(*rows, strict=True))
    return ScenePool(
        torch.from_numpy(images), *(torch.from_numpy(part) for part in (labels, target, normals, depth))
    )


def _summary(scene: Scene) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    facing = scene.normals @ scene.rotation.T
    geometry = (scene.instances == 1, facing, np.log(scene.depth))
    target, normals, depth = (_patch_means(np.asarray(part, np.float32)) for part in geometry)
    return scene.image.transpose(2, 0, 1), np.asarray(scene.label), target[:, 0], normals, depth[:, 0]


def _patch_means(values: Float[np.ndarray, "h w *c"]) -> Float[np.ndarray, "k c"]:
    """Average [H, W] or [H, W, C] over patches, row by row."""
    height, width = values.shape[:2]
    cut = values.reshape(height // PATCH, PATCH, width // PATCH, PATCH, -1)
    return cut.mean(axis=(1, 3)).reshape(-1, cut.shape[-1])


def train_images(name: str, **options: Scalar) -> UInt8[Tensor, "n 3 h w"]:
    """Read all pictures of a built-in dataset's train split; its labels are not looked at.

    Args:
        name: Of the dataset.
        **options: Of the dataset; they keep the recipe the same where the dataset's defaults change.
    """
    split = open_dataset(DatasetRef.from_options(name, **options)).splits["train"]
    pixels = np.stack([np.asarray(split.read(row)) for row in range(len(split))])
    return torch.from_numpy(pixels.transpose(0, 3, 1, 2).copy())


def normalise(images: UInt8[Tensor, "n 3 h w"]) -> Float[Tensor, "n 3 h w"]:
    """Scale pixels as the embedded backbones' preprocessing does.

    Args:
        images: 0..255.
    """
    mean, std = (torch.tensor(DATA_CONFIG[key]).view(3, 1, 1) for key in ("mean", "std"))
    return (images.float() / 255 - mean) / std


def draw_from(
    pools: Sequence[Tensor], shares: Sequence[float], count: int, *, generator: torch.Generator
) -> Tensor:
    """Draw pictures with replacement, the pools in the given shares.

    Args:
        pools: uint8 pictures of one size.
        shares: Probability of each pool.
        count: n.
        generator: The only source of randomness.
    """
    which = torch.multinomial(torch.tensor(shares), count, replacement=True, generator=generator)
    place = torch.rand(count, generator=generator)
    return torch.stack(
        [pools[int(w)][int(p * len(pools[int(w)]))] for w, p in zip(which, place, strict=True)]
    )


def pictures_digest(*pools: Tensor) -> str:
    """Return the first 16 digits of the sha256 over the pixels, for the record in the weights file.

    Args:
        *pools: Pictures.
    """
    digest = hashlib.sha256()
    for pool in pools:
        digest.update(pool.numpy().tobytes())
    return digest.hexdigest()[:16]
