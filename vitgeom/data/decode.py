"""Bytes of an image file -> an RGB image, by one policy for all sources.

* Only formats of photographs and scans are tried; nothing that needs an interpreter (EPS, PDF).
* The first frame of an animation or the first page of a TIFF is the image.
* The orientation that a camera noted (EXIF) is applied.
* Transparent parts are composited on white.
* 16-bit grey is scaled, 65535 -> 255. Floats must lie in 0..1 and are scaled by 255; 32-bit integers must lie in 0..65535 and are
  taken as 16-bit grey. Anything else has no agreed white level and is refused rather than clipped.
* Larger images than ``MOST_PIXELS`` are refused before a pixel is decoded: a small file can unpack to many gigabytes.
"""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache

import numpy as np
from PIL import Image, ImageOps, UnidentifiedImageError

from vitgeom.errors import InvalidInput

MOST_PIXELS = 80_000_000
EXTENSIONS = frozenset(
    (
        ".avif",
        ".bmp",
        ".dib",
        ".gif",
        ".jfif",
        ".jpe",
        ".jpeg",
        ".jpg",
        ".pbm",
        ".pgm",
        ".png",
        ".pnm",
        ".ppm",
        ".tif",
        ".tiff",
        ".webp",
    )
)
_FORMATS = ("AVIF", "BMP", "DIB", "GIF", "JPEG", "MPO", "PNG", "PPM", "TIFF", "WEBP")


def decode_image(data: bytes) -> Image.Image:
    """Decode a whole image file.

    Args:
        data: The bytes of the file.

    Returns:
        An image of mode RGB, upright.

    Raises:
        InvalidInput: There is no readable image in the bytes, or the policy above refuses it; the message is the reason.
    """
    if not data:
        raise InvalidInput("the file is empty")
    try:
        with Image.open(io.BytesIO(data), formats=_formats()) as image:
            width, height = image.size
            if width * height > MOST_PIXELS:
                raise InvalidInput(_too_large(f"{width} x {height} pixels"))
            image.load()
            return to_rgb(ImageOps.exif_transpose(image))
    except UnidentifiedImageError:
        raise InvalidInput("no image in a format that is read here") from None
    except Image.DecompressionBombError:
        raise InvalidInput(_too_large("far more pixels than that")) from None
    except InvalidInput:
        raise
    except (
        Exception
    ) as error:  # decoders raise nearly anything on damaged bytes; all of it means the same here
        raise InvalidInput(f"damaged: {type(error).__name__}: {error}") from error


def to_rgb(image: Image.Image) -> Image.Image:
    """Convert a loaded image of any mode to RGB by the policy of this module.

    Raises:
        InvalidInput: Its numbers have no agreed white level.
    """
    if image.mode.startswith("I;16"):
        return _scaled(np.asarray(image), white=65535)
    if image.mode == "I":
        return _scaled(np.asarray(image), white=65535)
    if image.mode == "F":
        return _scaled(np.asarray(image), white=1)
    if image.has_transparency_data:
        layer = image.convert("LA" if image.mode == "La" else "RGBA").convert("RGBA")
        paper = Image.new("RGBA", layer.size, "white")
        return Image.alpha_composite(paper, layer).convert("RGB")
    return image.convert("RGB")


@contextmanager
def quiet_decoders() -> Iterator[None]:
    """Keep Pillow's warnings about damaged files off the screen: here a file either decodes or is reported.

    Not for several threads at once: enter it before they start.
    """
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", module=r"PIL\.")
        warnings.simplefilter("ignore", Image.DecompressionBombWarning)
        yield


def _scaled(values: np.ndarray, *, white: int) -> Image.Image:
    low, high = float(values.min()), float(values.max())
    if not (low >= 0 and high <= white):
        raise InvalidInput(f"pixel values span {low:g}..{high:g}, outside 0..{white}: no agreed white level")
    return Image.fromarray(np.rint(values * (255.0 / white)).astype(np.uint8)).convert("RGB")


def _too_large(what: str) -> str:
    return f"decompression bomb: {what}, more than {MOST_PIXELS:,} are not decoded; shrink the image first"


@lru_cache(maxsize=1)
def _formats() -> tuple[str, ...]:
    """Return those of the wanted formats that this build of Pillow reads."""
    Image.init()
    return tuple(name for name in _FORMATS if name in Image.OPEN)
