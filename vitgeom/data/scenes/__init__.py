"""Rendered scenes with exact class, depth, point map, pose and masks."""

from vitgeom.data.scenes.difficulty import Difficulty
from vitgeom.data.scenes.opener import open_scenes, scene_stream
from vitgeom.data.scenes.rendering import Scene, render_scene, scene_label
from vitgeom.data.scenes.solids import CLASSES

__all__ = ["CLASSES", "Difficulty", "Scene", "open_scenes", "render_scene", "scene_label", "scene_stream"]
