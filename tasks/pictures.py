"""Small pictures of what a backbone sees, as text for result files."""

from __future__ import annotations

import base64
import io
from collections.abc import Mapping

from PIL import Image

from vitgeom.backbones import Backbone
from vitgeom.data import Split

THUMBNAIL = 112
"""Longest side of a picture in a result file, in pixels."""


def small_pictures(split: Split, backbone: Backbone, rows: Mapping[str, int]) -> dict[str, str]:
    """Return PNGs in base64 of what the backbone sees of some images, by sample id.

    Args:
        split: Of the images.
        backbone: It crops and resizes.
        rows: Sample id -> its row in the split.
    """
    return {sample: _png(backbone.seen(split.read(rows[sample]))) for sample in sorted(rows)}


def _png(image: Image.Image) -> str:
    small = image.copy()
    small.thumbnail((THUMBNAIL, THUMBNAIL), Image.Resampling.BICUBIC)
    buffer = io.BytesIO()
    small.save(buffer, format="PNG", optimize=False)
    return base64.b64encode(buffer.getvalue()).decode("ascii")
