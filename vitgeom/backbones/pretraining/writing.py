"""Trained weights into the file that the package ships."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import safetensors.torch
import torch
from torch import nn

from vitgeom.errors import InvalidInput
from vitgeom.sorted_header import with_sorted_header


def write_weights(
    model: nn.Module, file: Path, *, name: str, recipe: Any, pictures: Mapping[str, str]
) -> None:
    """Store a model in half precision, with what one needs to know to make it again.

    The bytes depend on the weights and the recipe alone: no dates, no host.

    Args:
        model: The trained model.
        file: Where to.
        name: Of the embedded backbone.
        recipe: Frozen dataclass of everything that decided the weights.
        pictures: Name of each source of pictures -> digest of its pixels.

    Raises:
        InvalidInput: A weight is not finite, or does not fit half precision.
    """
    state = {
        key: tensor.detach().to(torch.float16).contiguous() for key, tensor in model.state_dict().items()
    }
    broken = [key for key, tensor in state.items() if not torch.isfinite(tensor).all()]
    if broken:
        raise InvalidInput(
            f"weights of {name!r} are not finite in half precision: {', '.join(broken)}. Train with a smaller step size."
        )
    metadata = {
        "architecture": name,
        "licence": "Apache-2.0",
        "command": f"python -m vitgeom.backbones.pretraining {'masked' if name == 'nano_selfsup' else 'supervised'}",
        "recipe": json.dumps(asdict(recipe), sort_keys=True),
        "pictures": json.dumps(dict(pictures), sort_keys=True),
    }
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(with_sorted_header(safetensors.torch.save(state, metadata=metadata)))
