"""A picture of a random world together with its exact geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Bool, Float, Int, UInt8

from vitgeom.data.scenes.arrays import Matrix, PerRayMask, Points, Vector
from vitgeom.data.scenes.camera import Camera
from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.solids import CLASSES
from vitgeom.data.scenes.tracing import Hits, colours, join, trace
from vitgeom.data.scenes.world import World, draw_world
from vitgeom.seeding import derive_seed

# Four samples per pixel where an edge passes, on a turned square: no two share a row or a column.
_SAMPLES = np.array([[-0.125, -0.375], [0.375, -0.125], [0.125, 0.375], [-0.375, 0.125]])


@dataclass(frozen=True, eq=False)
class Scene:
    """One picture with everything that is known about it; all rays pass through pixel centres.

    Lengths are in scene units (an object is about 2 across). The camera is an OpenCV one: x right, y down, z forward.

    Attributes:
        image: uint8 [H, W, 3], RGB with gamma 2.
        label: Index into ``CLASSES`` of the target. The target is the object whose centre projects nearest to the image centre.
        depth: float64 [H, W], z-depth: the third camera coordinate. Finite everywhere, the room is closed.
        points_camera: float64 [H, W, 3], the visible surface point in camera coordinates.
        points_world: float64 [H, W, 3], the same point in world coordinates (z up, floor at 0).
        normals: float64 [H, W, 3], unit surface normal in the world, facing the camera.
        instances: int64 [H, W], 0 for the room, 1 for the target, 2 and up for distractors.
        intrinsics: float64 [3, 3], K; the centre of the top left pixel is (0.5, 0.5).
        rotation: float64 [3, 3], R of x_camera = R x_world + t.
        translation: float64 [3], t.
        shapes: Class name of object k at index k - 1.
    """

    image: UInt8[np.ndarray, "h w 3"]
    label: int
    depth: Float[np.ndarray, "h w"]
    points_camera: Float[np.ndarray, "h w 3"]
    points_world: Float[np.ndarray, "h w 3"]
    normals: Float[np.ndarray, "h w 3"]
    instances: Int[np.ndarray, "h w"]
    intrinsics: Matrix
    rotation: Matrix
    translation: Vector
    shapes: tuple[str, ...]

    @property
    def foreground(self) -> Bool[np.ndarray, "h w"]:
        """Bool [H, W]: the pixel shows an object, not the room."""
        return self.instances > 0


def scene_label(index: int) -> int:
    """Return the class of the target of scene ``index``: classes take turns, so any run of scenes is balanced."""
    return index % len(CLASSES)


def render_scene(
    seed: int, index: int, *, stream: str = "pretrain", size: int = 64, difficulty: Difficulty | None = None
) -> Scene:
    """Render scene ``index`` of a stream.

    The scene depends on its arguments alone, not on scenes before it. Streams of different names share no random numbers.
    The world does not depend on ``size``. Cost: a few ms for 64 x 64 pixels on one core, linear in the pixels.

    Args:
        seed: Of the whole stream.
        index: Number of the scene, >= 0.
        stream: "train", "val" and "test" are those of the ``scenes`` dataset; any other name is a stream of its own.
        size: Height and width, pixels.
        difficulty: Ranges that scenes are drawn from; None for the defaults.
    """
    difficulty = difficulty or Difficulty()
    generator = np.random.default_rng(derive_seed(seed, "scenes", stream, index))
    label = scene_label(index)
    world = draw_world(label, generator=generator, size=size, difficulty=difficulty)
    return render_world(world, label=label, generator=generator, size=size, difficulty=difficulty)


def render_world(
    world: World, *, label: int, generator: np.random.Generator, size: int, difficulty: Difficulty
) -> Scene:
    """Render a world.

    Args:
        world: What is in the picture.
        label: Class of its target.
        generator: Of the pixel noise.
        size: Height and width, pixels; the one that the world's camera was made for.
        difficulty: Of light and noise.
    """
    hits, light = _shoot(world, size, difficulty)
    image = _develop(light, generator, size, difficulty)
    return _scene(image, label, world, hits, size)


def _shoot(world: World, size: int, difficulty: Difficulty) -> tuple[Hits, Points]:
    """Trace the pixel centres; colour each pixel by its centre, or on edges by the mean of four samples."""
    camera = world.camera
    centres = camera.pixel_centres()
    hits = trace(world, camera.position, camera.directions(centres))
    edge = _edges(hits, size)
    within = (centres[:, edge, None] + _SAMPLES.T[:, None, :]).reshape(2, -1)
    finer = trace(world, camera.position, camera.directions(within))
    plain = np.flatnonzero(~edge)
    light = np.clip(
        colours(world, join(hits.take(plain), finer), camera.position, difficulty=difficulty), 0, 1
    )
    image = np.empty_like(hits.points)
    image[:, plain] = light[:, : len(plain)]
    image[:, edge] = light[:, len(plain) :].reshape(3, -1, len(_SAMPLES)).mean(axis=2)
    return hits, image


def _edges(hits: Hits, size: int) -> PerRayMask:
    """Return which pixels [N] have a neighbour on another object or on a surface of clearly different direction."""
    instances = hits.instances.reshape(size, size)
    normals = hits.normals.reshape(3, size, size)
    edge = np.zeros((size, size), dtype=bool)
    down = (instances[1:] != instances[:-1]) | ((normals[:, 1:] * normals[:, :-1]).sum(axis=0) < 0.8)
    right = (instances[:, 1:] != instances[:, :-1]) | (
        (normals[:, :, 1:] * normals[:, :, :-1]).sum(axis=0) < 0.8
    )
    edge[1:] |= down
    edge[:-1] |= down
    edge[:, 1:] |= right
    edge[:, :-1] |= right
    return edge.ravel()


def _develop(
    light: Points, generator: np.random.Generator, size: int, difficulty: Difficulty
) -> UInt8[np.ndarray, "{size} {size} 3"]:
    """Turn linear RGB in 0..1 into an image uint8 [H, W, 3]: square-root response (gamma 2), then pixel noise."""
    image = 255 * np.sqrt(light).T.reshape(size, size, 3)
    image += difficulty.noise * generator.standard_normal(image.shape, dtype=np.float32)
    return np.clip(np.rint(image), 0, 255).astype(np.uint8)


def _scene(image: UInt8[np.ndarray, "h w 3"], label: int, world: World, hits: Hits, size: int) -> Scene:
    camera: Camera = world.camera
    in_camera = camera.rotation @ hits.points + camera.translation[:, None]

    def as_map(points: Points) -> Float[np.ndarray, "h w 3"]:
        return np.ascontiguousarray(points.T).reshape(size, size, 3)

    return Scene(
        image=image,
        label=label,
        depth=hits.distance.reshape(size, size),
        points_camera=as_map(in_camera),
        points_world=as_map(hits.points),
        normals=as_map(hits.normals),
        instances=hits.instances.reshape(size, size),
        intrinsics=camera.intrinsics,
        rotation=camera.rotation,
        translation=camera.translation,
        shapes=tuple(body.solid.name for body in world.bodies),
    )
