"""What goes into a backbone: pictures, and batches of prepared pixels. Anything else is refused with the way to make one of it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vitgeom.errors import InvalidInput


def require_picture(image: object) -> Image.Image:
    """Return ``image`` if it is a picture with at least one pixel.

    Args:
        image: What a caller wants to have prepared.

    Raises:
        InvalidInput: It is none: a path, an array, a tensor; or it has no pixels.
    """
    if not isinstance(image, Image.Image):
        raise InvalidInput(
            f"image must be a PIL.Image.Image, got {_what(image)}. {_as_picture(image)} gives one."
        )
    if not min(image.size):
        raise InvalidInput(
            f"image has no pixels: it is {image.size[0]}x{image.size[1]}. Give one with at least one pixel."
        )
    return image


def require_pixels(images: object) -> Tensor:
    """Return ``images`` if it has the form of a prepared batch: a floating-point tensor [b, 3, h, w] with b >= 1.

    Args:
        images: What a caller wants to have looked at.

    Raises:
        InvalidInput: Another type, number of axes, number of channels or type of numbers, or an empty batch.
    """
    expected = "images must be a float tensor [b, 3, h, w] of prepared pixels"
    if not isinstance(images, Tensor):
        way_out = (
            "torch.from_numpy(x) makes one of an array that is prepared already; else use"
            if isinstance(images, np.ndarray)
            else "Use"
        )
        raise InvalidInput(f"{expected}, got {_what(images)}. {way_out} backbone.preprocess_batch(pictures).")
    if not images.is_floating_point():
        raise InvalidInput(
            f"{expected}, got {_what(images)}: such numbers are not normalised. Use backbone.preprocess(picture)."
        )
    if images.ndim != 4 or images.shape[1] != 3:
        single = " One picture is a batch of one: images[None]." if images.ndim == 3 else ""
        raise InvalidInput(
            f"{expected}, got {_what(images)}.{single} backbone.preprocess_batch(pictures) gives that form."
        )
    if not len(images):
        raise InvalidInput("images is an empty batch. Give at least one picture.")
    return images


def _what(thing: object) -> str:
    """Say what was given: its type, and the form of an array."""
    if isinstance(thing, Tensor | np.ndarray):
        kind = "a tensor" if isinstance(thing, Tensor) else "a NumPy array"
        return f"{kind} {list(thing.shape)} of {thing.dtype}"
    return "None" if thing is None else f"a {type(thing).__name__}"


def _as_picture(thing: object) -> str:
    if isinstance(thing, str | Path):
        return f"PIL.Image.open({str(thing)!r})"
    if isinstance(thing, np.ndarray):
        return "PIL.Image.fromarray(x), with x uint8 [h, w, 3],"
    if isinstance(thing, torch.Tensor):
        return "PIL.Image.fromarray(x.numpy()), with x uint8 [h, w, 3],"
    return "PIL.Image.open(path)"
