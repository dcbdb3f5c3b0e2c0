"""The photographs that scikit-image and scikit-learn carry inside their wheels, found without importing either."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from PIL import Image

from vitgeom.data.packaged_file import packaged_file

_FOLDERS = {"skimage": ("data",), "sklearn": ("datasets", "images")}


@dataclass(frozen=True)
class Photograph:
    """One photograph on disk.

    Attributes:
        name: Its class name.
        package: The import package that carries it.
        file: File name inside the image folder of that package.
        box: (left, top, right, bottom) of the part that shows something, or None for all of it.
    """

    name: str
    package: str
    file: str
    box: tuple[int, int, int, int] | None = None

    @property
    def path(self) -> Path:
        """Where the file lies.

        Raises:
            InvalidInput: The package is not installed, or its file is not there.
        """
        return packaged_file(self.package, *_FOLDERS[self.package], self.file)


PHOTOGRAPHS: tuple[Photograph, ...] = (
    Photograph("astronaut", "skimage", "astronaut.png"),
    Photograph("brick", "skimage", "brick.png"),
    Photograph("camera", "skimage", "camera.png"),
    Photograph("cat", "skimage", "chelsea.png"),
    Photograph("cell", "skimage", "cell.png"),
    Photograph("coffee", "skimage", "coffee.png"),
    Photograph("coins", "skimage", "coins.png"),
    Photograph("flower", "sklearn", "flower.jpg"),
    Photograph("galaxies", "skimage", "hubble_deep_field.jpg"),
    Photograph("grass", "skimage", "grass.png"),
    Photograph("gravel", "skimage", "gravel.png"),
    Photograph("handwriting", "skimage", "text.png"),
    Photograph("moon", "skimage", "moon.png"),
    Photograph("motorcycle", "skimage", "motorcycle_left.png"),
    Photograph("page", "skimage", "page.png"),
    Photograph("pagoda", "sklearn", "china.jpg"),
    Photograph("retina", "skimage", "retina.jpg", box=(225, 225, 1186, 1186)),
    Photograph("rocket", "skimage", "rocket.jpg"),
    Photograph("tissue", "skimage", "ihc.png"),
)


@lru_cache(maxsize=len(PHOTOGRAPHS))
def load_photograph(photograph: Photograph) -> Image.Image:
    """Return the decoded photograph in mode RGB, cut to its box (about 1 MB each, kept for the process)."""
    with Image.open(photograph.path) as image:
        return image.convert("RGB").crop(photograph.box or (0, 0, *image.size))


@lru_cache(maxsize=1)
def photograph_digests() -> dict[str, str]:
    """Return name -> sha256 of the file bytes, in the order of ``PHOTOGRAPHS``."""
    return {item.name: hashlib.sha256(item.path.read_bytes()).hexdigest() for item in PHOTOGRAPHS}


@lru_cache(maxsize=len(PHOTOGRAPHS))
def photograph_size(photograph: Photograph) -> tuple[int, int]:
    """Return (width, height) of the usable part, from the header alone."""
    if photograph.box:
        left, top, right, bottom = photograph.box
        return right - left, bottom - top
    with Image.open(photograph.path) as image:
        return image.size
