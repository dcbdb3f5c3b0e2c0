"""Rendered scenes as the heads learn from them: pictures with exact depth, points and camera pose.   n = scenes, H x W = pixels.

A picture does not show where the camera stands around the object (the world looks the same from all sides), so poses are given in a world
that is turned about the vertical until the camera looks towards its +y: only height, tilt, roll and distance remain.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch
from jaxtyping import Float, UInt8
from torch import Tensor

from vitgeom.data.scenes import Scene, render_scene
from vitgeom.data.scenes.arrays import Matrix, Vector
from vitgeom.decoders.quaternions import from_matrix


@dataclass(frozen=True, eq=False)
class SceneTargets:
    """n rendered scenes.

    Attributes:
        images: uint8 RGB.
        depth: z-depth of every pixel, scene units.
        points: Visible point of every pixel in camera coordinates, scene units.
        pose: Translation, quaternion (scalar last), vertical and horizontal field of view (radians).
    """

    images: UInt8[Tensor, "n 3 h w"]
    depth: Float[Tensor, "n 1 h w"]
    points: Float[Tensor, "n 3 h w"]
    pose: Float[Tensor, "n 9"]


def render_targets(count: int, *, seed: int, stream: str) -> SceneTargets:
    """Render the first ``count`` scenes of a stream. Cost: about 12 ms each.

    Args:
        count: n.
        seed: Of the stream.
        stream: "test" is the test split of the built-in ``scenes``; any new name is a stream of its own.
    """
    scenes = [render_scene(seed, index, stream=stream) for index in range(count)]
    images = np.stack([scene.image.transpose(2, 0, 1) for scene in scenes])
    points = np.stack([scene.points_camera.transpose(2, 0, 1) for scene in scenes]).astype(np.float32)
    return SceneTargets(
        torch.from_numpy(images),
        torch.from_numpy(points[:, 2:].copy()),
        torch.from_numpy(points),
        torch.stack([pose_of(scene) for scene in scenes]),
    )


def pose_of(scene: Scene) -> Float[Tensor, " 9"]:
    """Return the camera pose of a scene in the turned world.

    Args:
        scene: A rendered scene.
    """
    rotation = torch.from_numpy(scene.rotation @ _towards_y(scene.rotation[2]).T)
    height, width = scene.depth.shape
    focal = scene.intrinsics[[1, 0], [1, 0]]
    view = torch.from_numpy(2 * np.arctan(np.array([height, width]) / (2 * focal)))
    return torch.cat([torch.from_numpy(scene.translation), from_matrix(rotation), view]).float()


def _towards_y(forward: Vector) -> Matrix:
    """Return the turn about the vertical that brings the horizontal part of ``forward`` to +y."""
    across, along = forward[:2] / np.hypot(*forward[:2])
    return np.array([[along, -across, 0.0], [across, along, 0.0], [0.0, 0.0, 1.0]])
