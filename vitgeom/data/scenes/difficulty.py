"""How hard the scenes are: every range that a scene is drawn from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from vitgeom.data.reference import Scalar
from vitgeom.errors import InvalidInput, UnknownName

_NOT_NEGATIVE = (
    "min_distractors",
    "roll",
    "aim_error",
    "tilt",
    "stretch",
    "overlap",
    "contrast",
    "ambient",
    "highlight",
    "noise",
)


@dataclass(frozen=True)
class Difficulty:
    """Ranges for one scene; angles in degrees, lengths in scene units (an object is about 2 across).

    Attributes:
        min_distractors: Fewest other objects.
        max_distractors: Most other objects.
        min_distance: Of the camera from the target.
        max_distance: Of the camera from the target.
        min_elevation: Of the camera above the horizon, seen from the target.
        max_elevation: Of the camera above the horizon, seen from the target.
        roll: Largest turn about the optical axis, either way.
        min_view: Smallest field of view.
        max_view: Largest field of view.
        aim_error: Largest distance of the target's centre from the image centre, as a share of the image size.
        tilt: Largest angle between an object's own upright axis and the vertical; all directions within are equally
            likely, so 180 gives any pose. The turn about that axis is always free.
        stretch: Objects are scaled by up to 1 +- this along each of their axes.
        overlap: How much of the way a nearer object may cover the target: 0 leaves it clear, 1 lets centres meet in the image.
        contrast: Largest difference between the two colours of a texture, 0..1.
        texture_scale: Repeats of a pattern per unit of length.
        ambient: Share of light that comes from everywhere; less means harder shadows.
        highlight: Strongest mirror-like reflection.
        noise: Standard deviation of pixel noise, on a scale of 0..255.
    """

    min_distractors: int = 0
    max_distractors: int = 1
    min_distance: float = 3.4
    max_distance: float = 4.2
    min_elevation: float = 20.0
    max_elevation: float = 50.0
    roll: float = 5.0
    min_view: float = 42.0
    max_view: float = 48.0
    aim_error: float = 0.03
    tilt: float = 15.0
    stretch: float = 0.08
    overlap: float = 0.0
    contrast: float = 0.3
    texture_scale: float = 1.6
    ambient: float = 0.35
    highlight: float = 0.4
    noise: float = 3.0

    @classmethod
    def from_options(cls, ranges: Mapping[str, Scalar]) -> Difficulty:
        """Replace some defaults by values that came from outside, whose types are not known.

        Args:
            ranges: Field name -> number.

        Raises:
            UnknownName: There is no such field.
            InvalidInput: A value is no number, or makes no scene.
        """
        known: dict[str, int | float] = {field.name: getattr(cls, field.name) for field in fields(cls)}
        checked: dict[str, Any] = {}
        for name, value in ranges.items():
            if name not in known:
                raise UnknownName(
                    "option of dataset 'scenes'", name, [*known, "seed", "size", "test", "train", "val"]
                )
            if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
                raise InvalidInput(f"difficulty {name!r} must be a number, got {value!r}.")
            if isinstance(known[name], int) and value != int(value):
                raise InvalidInput(f"difficulty {name!r} must be a whole number, got {value!r}.")
            checked[name] = type(known[name])(value)
        return cls(**checked)

    def __post_init__(self) -> None:
        for name in _NOT_NEGATIVE:
            if not getattr(self, name) >= 0:
                raise InvalidInput(f"difficulty {name!r} must be >= 0, got {getattr(self, name)}.")
        for name in ("distractors", "distance", "elevation", "view"):
            low, high = getattr(self, f"min_{name}"), getattr(self, f"max_{name}")
            if low > high:
                raise InvalidInput(f"difficulty 'min_{name}' must be <= 'max_{name}', got {low} > {high}.")
        if self.min_distance < 2.5 or self.max_distance > 9 or self.min_elevation <= 0:
            raise InvalidInput(
                "the camera must stay between 2.5 and 9 units from the target and above the floor, got "
                f"distances {self.min_distance}..{self.max_distance} and elevations from {self.min_elevation}."
            )
        if self.max_elevation > 85 or self.min_view < 5 or self.max_view > 100:
            raise InvalidInput(
                "elevations may reach 85 degrees and views must lie in 5..100 degrees, got "
                f"{self.max_elevation} and {self.min_view}..{self.max_view}."
            )
        if self.tilt > 180:
            raise InvalidInput(f"difficulty 'tilt' must be <= 180 degrees, got {self.tilt}.")
        if self.stretch > 0.5 or self.overlap > 1 or self.aim_error > 0.3:
            raise InvalidInput(
                "difficulty 'stretch' must be <= 0.5, 'overlap' <= 1 and 'aim_error' <= 0.3, got "
                f"{self.stretch}, {self.overlap} and {self.aim_error}."
            )
