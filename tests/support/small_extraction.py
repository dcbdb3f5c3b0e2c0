"""An extraction that takes a second: noise images under a small Vision Transformer with random weights."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tasks.request import ExtractSettings
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef

BACKBONE = BackboneRef.from_options("nano_supervised", pretrained=False, image_size=16)
NO_CLASS_TOKEN = BackboneRef.from_options("vit_wee_patch16_reg1_gap_256", pretrained=False, image_size=16)
NUM_IMAGES = 60
# The first and the last of the twelve, counted from 1.
TOKEN_LAYERS = (1, 12)


def noise(n: int = NUM_IMAGES, **options: Any) -> DatasetRef:
    return DatasetRef.from_options("noise", n=n, classes=3, size=20, **options)


def settings(**options: Any) -> ExtractSettings:
    return ExtractSettings(**{"rows_per_range": 8, "batch_size": 3, **options})


def stored_bytes(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder, with the times taken out of done-markers, and without leases."""
    found = {}
    for path in sorted(folder.rglob("*")):
        name = path.relative_to(folder).as_posix()
        if not path.is_file() or "/lease/" in name:
            continue
        data = path.read_bytes()
        found[name] = _without_times(data) if f"/{name}".endswith("/done.json") or "/done/" in name else data
    return found


def _without_times(data: bytes) -> bytes:
    record = json.loads(data)
    return json.dumps(
        {key: value for key, value in record.items() if key not in ("seconds", "peak_bytes", "checksum")}
    ).encode()
