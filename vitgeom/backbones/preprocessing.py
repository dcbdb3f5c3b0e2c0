"""From a picture to the tensor that a backbone was trained on."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import torch
from jaxtyping import Float
from PIL import Image
from torch import Tensor

from vitgeom.backbones.inputs import require_picture


class Preprocessing:
    """Resize, centre crop, scale to [0, 1] and normalise, as the model's own data configuration says.

    The steps are timm's evaluation transform at the backbone's image size; ``to_json`` records them for the store's address.
    """

    def __init__(self, data_config: dict[str, Any], *, image_size: tuple[int, int]) -> None:
        from vitgeom.backbones.timm_models import resolved_data_config

        self._config = resolved_data_config(data_config, image_size=image_size)
        self.image_size = image_size

    @cached_property
    def _transform(self) -> Callable[[Image.Image], Tensor]:
        from vitgeom.backbones.timm_models import evaluation_transform

        return evaluation_transform(self._config)

    def __call__(self, image: Image.Image) -> Float[Tensor, "3 h w"]:
        """Return the normalised pixels of one picture of any size and mode.

        Args:
            image: The picture; other modes than RGB are converted.

        Raises:
            InvalidInput: It is no picture, or one without pixels.
        """
        return self._transform(require_picture(image).convert("RGB")).to(torch.float32)

    def seen(self, image: Image.Image) -> Image.Image:
        """Return what is left of a picture after resizing and cropping, at the image size: patches lie on it row by row.

        Args:
            image: The picture, as for a call.

        Raises:
            InvalidInput: It is no picture, or one without pixels.
        """
        mean, std = (torch.tensor(self._config[name])[:, None, None] for name in ("mean", "std"))
        shares = (self(image) * std + mean).clamp(0, 1)
        return Image.fromarray((255 * shares).round().to(torch.uint8).permute(1, 2, 0).numpy())

    def to_json(self) -> dict[str, Any]:
        """Return every parameter of the steps as JSON values."""
        crop_pct = float(self._config["crop_pct"])
        return {
            "resize": [int(side / crop_pct) for side in self.image_size],
            "crop": list(self.image_size),
            "crop_mode": self._config["crop_mode"],
            "crop_pct": crop_pct,
            "interpolation": self._config["interpolation"],
            "mean": list(self._config["mean"]),
            "std": list(self._config["std"]),
        }
