"""Jacobians whose directions the benchmark looks for: planted ones, and the class token of two backbones after layer 10.   M = outputs, N = tokens, D = width."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import torch
from PIL import Image
from skimage import data
from torch import Tensor

from tests.support.matrices import with_singular_values
from tests.support.planted_spectra import planted_spectra
from vitgeom.backbones import Backbone, load_backbone
from vitgeom.decoders import BoundDecoder, cls_decoder
from vitgeom.decoders.jacobian import jacobian_of
from vitgeom.linop import DenseOperator, LinearOperator

LAYER, RANK, ORDER = 10, 20, 2000
PLANTED = ("j^-1", "exp(-j/60)")
FILE = "dinov2_vits14_518.fp16.safetensors"


@dataclass(frozen=True)
class DirectionCase:
    """One Jacobian, by products and in full.

    Attributes:
        name: For the table.
        num_tokens: N.
        num_prefix: Tokens at the start that are no patches.
        operator: Builds J as an operator; its cost is part of ours.
        explicit: Builds J [M, N D]; its cost is part of the peers that need it.
        point: The decoder at its features; None where there is only a matrix.
    """

    name: str
    num_tokens: int
    num_prefix: int
    operator: Callable[[], LinearOperator]
    explicit: Callable[[], Tensor]
    point: BoundDecoder | None = None

    @cached_property
    def sigma(self) -> Tensor:
        """All singular values, in float64."""
        wide = self.explicit().double()
        return torch.linalg.eigvalsh(wide @ wide.mT).clamp_min(0).sqrt().flip(0)

    @property
    def norm(self) -> float:
        """||J||_F^2."""
        return float((self.sigma**2).sum())

    @property
    def kappa(self) -> float:
        """kappa_cap(20)."""
        return float((self.sigma[:RANK] ** 2).sum()) / self.norm


def planted_case(name: str) -> DirectionCase:
    """A dense matrix with a planted spectrum and uniformly distributed singular vectors, in float64.

    Args:
        name: In ``planted_spectra``.
    """
    matrix = with_singular_values(planted_spectra(ORDER)[name].sqrt(), rows=ORDER, columns=ORDER)
    operator = DenseOperator(matrix)
    eye = torch.eye(ORDER, dtype=torch.float64)
    return DirectionCase(
        f"dense {ORDER} x {ORDER}, sigma² = {name}", 1, 0, lambda: operator, lambda: operator.matmat(eye)
    )


def backbone_case(name: str, backbone: Backbone) -> DirectionCase:
    """The class token after the last block, by the tokens of layer 10 of a photograph.

    Args:
        name: For the table.
        backbone: Loaded.
    """
    bound = cls_decoder(backbone, layer=LAYER).at(backbone.preprocess(Image.fromarray(data.astronaut())))
    layout = backbone.spec.layout
    return DirectionCase(
        f"{name}, class token from layer {LAYER}, {backbone.spec.width} x {bound.features.numel():,}",
        layout.num_tokens,
        layout.num_prefix,
        lambda: jacobian_of(bound, backbone),
        lambda: torch.autograd.functional.jacobian(bound, bound.features).flatten(1),
        bound,
    )


def dinov2_case() -> DirectionCase | None:
    """DINOv2 ViT-S/14 at 224 pixels; None where VITGEOM_WEIGHTS names no folder with its weights."""
    file = Path(os.environ.get("VITGEOM_WEIGHTS", "")) / FILE
    if not file.is_file():
        return None
    return backbone_case(
        "DINOv2 ViT-S/14", load_backbone(file, architecture="vit_small_patch14_dinov2", image_size=224)
    )


def nano_case() -> DirectionCase:
    """The embedded backbone."""
    return backbone_case("nano_supervised", load_backbone("nano_supervised"))
