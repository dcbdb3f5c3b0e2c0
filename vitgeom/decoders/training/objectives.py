"""What each head is asked for: its target, its loss and the figures of its card.   n = scenes, H x W = pixels."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.decoders.camera import QUATERNION, TRANSLATION, VIEW
from vitgeom.decoders.quaternions import angle_between

Figures = dict[str, float]


def depth_loss(predicted: Float[Tensor, "n 1 h w"], wanted: Float[Tensor, "n 1 h w"]) -> Tensor:
    """Return the mean of |log depth - log wanted|.

    Args:
        predicted: Depth > 0.
        wanted: Depth > 0.
    """
    return (predicted.log() - wanted.log()).abs().mean()


def depth_figures(predicted: Float[Tensor, "n 1 h w"], wanted: Float[Tensor, "n 1 h w"]) -> Figures:
    """Return AbsRel, RMSE (scene units) and delta1, over all pixels; no scale is fitted.

    Args:
        predicted: Depth.
        wanted: Depth.
    """
    ratio = torch.maximum(predicted / wanted, wanted / predicted)
    return {
        "AbsRel": float(((predicted - wanted).abs() / wanted).mean()),
        "RMSE": float((predicted - wanted).square().mean().sqrt()),
        "delta1": float((ratio < 1.25).float().mean()),
    }


def points_loss(predicted: Float[Tensor, "n 3 h w"], wanted: Float[Tensor, "n 3 h w"]) -> Tensor:
    """Return the mean distance between points, relative to the distance from the camera.

    Args:
        predicted: Points in camera coordinates.
        wanted: Points in camera coordinates.
    """
    apart = ((predicted - wanted).square().sum(1) + 1e-8).sqrt()
    return (apart / wanted.norm(dim=1)).mean()


def points_figures(predicted: Float[Tensor, "n 3 h w"], wanted: Float[Tensor, "n 3 h w"]) -> Figures:
    """Return the distance between points: mean and median (scene units), and mean relative to the distance from the camera.

    Args:
        predicted: Points in camera coordinates.
        wanted: Points in camera coordinates.
    """
    apart = (predicted - wanted).norm(dim=1)
    return {
        "mean error": float(apart.mean()),
        "median error": float(apart.median()),
        "relative error": float((apart / wanted.norm(dim=1)).mean()),
    }


def pose_loss(predicted: Float[Tensor, "n 9"], wanted: Float[Tensor, "n 9"]) -> Tensor:
    """Return the mean of |translation error| + 10 (1 - <q, q'>^2) + |view error|, scene units and radians.

    Args:
        predicted: Poses.
        wanted: Poses.
    """
    moved = (predicted[:, TRANSLATION] - wanted[:, TRANSLATION]).norm(dim=1)
    turned = 1 - (predicted[:, QUATERNION] * wanted[:, QUATERNION]).sum(1).square()
    opened = (predicted[:, VIEW] - wanted[:, VIEW]).abs().sum(1)
    return (moved + 10 * turned + opened).mean()


def pose_figures(predicted: Float[Tensor, "n 9"], wanted: Float[Tensor, "n 9"]) -> Figures:
    """Return mean errors: rotation (degrees), translation (scene units), field of view (degrees).

    Args:
        predicted: Poses.
        wanted: Poses.
    """
    turned = angle_between(predicted[:, QUATERNION].double(), wanted[:, QUATERNION].double())
    return {
        "rotation (degrees)": float(torch.rad2deg(turned).mean()),
        "translation": float((predicted[:, TRANSLATION] - wanted[:, TRANSLATION]).norm(dim=1).mean()),
        "view (degrees)": float(torch.rad2deg((predicted[:, VIEW] - wanted[:, VIEW]).abs()).mean()),
    }
