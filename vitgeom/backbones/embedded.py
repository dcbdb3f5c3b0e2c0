"""The backbones that come with the package: small enough to ship, trained on pictures that come with it too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

EMBEDDED = ("nano_supervised", "nano_selfsup")
WEIGHTS_FOLDER = Path(__file__).parent / "weights"

_NANO: dict[str, Any] = {
    "img_size": 64,
    "patch_size": 8,
    "embed_dim": 96,
    "depth": 12,
    "num_heads": 3,
    "mlp_ratio": 2.0,
    "num_classes": 0,
    "global_pool": "token",
}
ARCHITECTURES: dict[str, dict[str, Any]] = {
    "nano_supervised": _NANO,
    "nano_selfsup": {**_NANO, "reg_tokens": 4},
}
DATA_CONFIG: dict[str, Any] = {
    "input_size": (3, 64, 64),
    "interpolation": "bicubic",
    "crop_pct": 1.0,
    "crop_mode": "center",
    "mean": (0.5, 0.5, 0.5),
    "std": (0.5, 0.5, 0.5),
}


def weights_file(name: str) -> Path:
    """Return the path of an embedded backbone's weights inside the package.

    Args:
        name: One of ``EMBEDDED``.
    """
    return WEIGHTS_FOLDER / f"{name}.safetensors"
