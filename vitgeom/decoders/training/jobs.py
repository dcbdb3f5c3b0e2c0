"""The heads that come with the package: what each is, and what it is asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from vitgeom.decoders.camera import CameraConfig, CameraHead
from vitgeom.decoders.dpt import DptConfig, DptHead
from vitgeom.decoders.pointmap import PointMapConfig, PointMapHead
from vitgeom.decoders.training import objectives
from vitgeom.decoders.training.scene_targets import SceneTargets

TAPS = (3, 6, 9, 12)


@dataclass(frozen=True)
class HeadRecipe:
    """Everything that decides a head's weights, beside the pictures and the backbone.

    Attributes:
        steps: Number of batches.
        batch: Scenes per batch.
        rate: Largest step size of AdamW; it falls to zero along a cosine.
        weight_decay: Of AdamW.
        seed: Of weights and batches.
    """

    steps: int = 800
    batch: int = 16
    rate: float = 2e-3
    weight_decay: float = 0.01
    seed: int = 0


@dataclass(frozen=True)
class Job:
    """One head.

    Attributes:
        name: Of the decoder.
        kind: Of the head.
        build: Token width -> a fresh head.
        target: Which of a scene's truths it learns.
        loss: Predicted, wanted -> scalar.
        figures: Predicted, wanted -> the card's figures.
        constant: Targets of all training scenes -> the best guess without looking at the picture.
        recipe: How it is trained.
        output: What the decoder's output means.
    """

    name: str
    kind: str
    build: Callable[[int], nn.Module]
    target: Callable[[SceneTargets], Tensor]
    loss: Callable[[Tensor, Tensor], Tensor]
    figures: Callable[[Tensor, Tensor], dict[str, float]]
    constant: Callable[[Tensor], Tensor]
    recipe: HeadRecipe
    output: str


def _small(width: int, **options: Any) -> DptConfig:
    return DptConfig(width, channels=(24, 32, 48, 48), features=24, hidden=16, **options)


def median_map(targets: Tensor) -> Tensor:
    """Return the median over scenes of every number: the constant with the least mean absolute error.

    Args:
        targets: Of all training scenes.
    """
    return targets.median(dim=0).values


def mean_pose(targets: Tensor) -> Tensor:
    """Return the mean pose, its quaternion normalised; all quaternions of the stream lie on one side.

    Args:
        targets: [n, 9].
    """
    mean = targets.mean(0)
    mean[3:7] = mean[3:7] / mean[3:7].norm()
    return mean


JOBS = {
    job.name: job
    for job in (
        Job(
            "scenes_depth",
            "dpt",
            lambda width: DptHead(_small(width, final="exp")),
            lambda scenes: scenes.depth,
            objectives.depth_loss,
            objectives.depth_figures,
            median_map,
            HeadRecipe(),
            "z-depth [1, 64, 64] of every pixel, scene units",
        ),
        Job(
            "scenes_points",
            "pointmap",
            lambda width: PointMapHead(
                PointMapConfig(_small(width, out_channels=3, final="identity"), points="exp")
            ),
            lambda scenes: scenes.points,
            objectives.points_loss,
            objectives.points_figures,
            median_map,
            HeadRecipe(),
            "visible point [3, 64, 64] of every pixel in camera coordinates (x right, y down, z forward), scene units",
        ),
        Job(
            "scenes_camera",
            "camera",
            lambda width: CameraHead(CameraConfig(width, num_taps=len(TAPS))),
            lambda scenes: scenes.pose,
            objectives.pose_loss,
            objectives.pose_figures,
            mean_pose,
            HeadRecipe(steps=2000, batch=64, weight_decay=0.1),
            "camera pose [9]: translation (scene units), unit quaternion (scalar last), vertical and horizontal field of view (radians)",
        ),
    )
}


@torch.no_grad()
def predict(head: nn.Module, taps: Tensor, *, geometry: Any) -> Tensor:
    """Return the head's output for many scenes.

    Args:
        head: In evaluation mode.
        taps: [n, T, N, D].
        geometry: Of the tokens.
    """
    return torch.cat([head(list(part.unbind(1)), geometry=geometry) for part in taps.split(50)])
