"""Convolutional head on patch tokens: transposed convolutions with batch norm and ReLU, then a map at image size.

Each stage doubles the resolution: ConvTranspose2d(4, stride 2, padding 1), BatchNorm, ReLU; then a 1 x 1 convolution, bilinear resampling to
image size, and a last activation. This is the shape of published saliency and segmentation heads on DINOv2.
B = images, N = tokens, D = width, C = output channels, H x W = pixels.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from jaxtyping import Float
from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import Tensor, nn

from vitgeom.decoders.final_maps import FINALS
from vitgeom.decoders.geometry import PatchGeometry
from vitgeom.errors import InvalidInput, UnknownName


@dataclass(frozen=True)
class UpconvConfig:
    """Shape of a head; JSON values only.

    Attributes:
        width: D of the tokens.
        widths: Channels after each doubling.
        out_channels: C.
        final: Last activation, a name in ``FINALS``.

    Raises:
        InvalidInput: No stage, or a count below 1.
        UnknownName: No such activation.
    """

    width: int
    widths: tuple[int, ...] = (256, 128, 64)
    out_channels: int = 1
    final: str = "sigmoid"

    def __post_init__(self) -> None:
        if not self.widths or min(self.width, self.out_channels, *self.widths) < 1:
            raise InvalidInput(
                f"width={self.width}, out_channels={self.out_channels} and widths={self.widths} must be at least 1, with at least one stage."
            )
        if self.final not in FINALS:
            raise UnknownName("final activation", self.final, FINALS)


class UpconvHead(nn.Module):
    """One tap [B, N, D] -> map [B, C, H, W] at image size. ReLU: the Jacobian has jumps.

    Args:
        config: Shape of the head.
    """

    def __init__(self, config: UpconvConfig) -> None:
        super().__init__()
        self.config = config
        width = config.width
        for number, channels in enumerate(config.widths, start=1):
            self.add_module(f"upconv{number}", nn.ConvTranspose2d(width, channels, 4, stride=2, padding=1))
            self.add_module(f"bn{number}", nn.BatchNorm2d(channels))
            width = channels
        self.final_conv = nn.Conv2d(width, config.out_channels, 1)

    def forward(self, taps: Sequence[Tensor], *, geometry: PatchGeometry) -> Float[Tensor, "b channels h w"]:
        """Return the map after the last activation.

        Args:
            taps: The one layer that is read.
            geometry: Of the tokens.
        """
        (tokens,) = taps
        maps = geometry.as_map(tokens)
        for number in range(1, len(self.config.widths) + 1):
            stage = self.get_submodule(f"upconv{number}")
            maps = F.relu(self.get_submodule(f"bn{number}")(stage(maps)))
        full = F.interpolate(
            self.final_conv(maps), size=geometry.image_size, mode="bilinear", align_corners=False
        )
        return FINALS[self.config.final](full)


def read_upconv_head(file: Path, *, final: str = "sigmoid") -> UpconvHead:
    """Build a head from a file that holds nothing but its weights; the shape is read from them.

    Args:
        file: safetensors with ``upconv1``, ``bn1``, ... and ``final_conv``.
        final: Last activation, which no weights tell.

    Raises:
        InvalidInput: No such file, or other weights.
    """
    try:
        state = load_file(file)
        first = state["upconv1.weight"]
        stages = sum(key.startswith("upconv") and key.endswith("weight") for key in state)
        widths = tuple(state[f"upconv{number}.weight"].shape[1] for number in range(1, stages + 1))
        config = UpconvConfig(first.shape[0], widths, state["final_conv.weight"].shape[0], final)
        with torch.device("meta"):
            head = UpconvHead(config)
        head.load_state_dict({**_counters(head), **state}, assign=True)
    except (KeyError, RuntimeError, OSError, SafetensorError) as error:
        raise InvalidInput(
            f"file {str(file)!r} does not hold an upconvolution head (upconv1, bn1, ..., final_conv): {error}."
        ) from error
    return head.float()


def _counters(head: nn.Module) -> dict[str, Any]:
    """Return the batch counters of batch norms, which files for inference leave out."""
    return {
        key: torch.zeros((), dtype=torch.int64)
        for key in head.state_dict()
        if key.endswith("num_batches_tracked")
    }
