"""Narrow arithmetic where asked for, wide arithmetic for the images that it cannot hold."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, get_args

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones.anatomy import Anatomy
from vitgeom.backbones.capture import LayerCapture, capture_layers
from vitgeom.backbones.layout import TokenLayout
from vitgeom.errors import InvalidInput, NumericalFailure, UnknownName

Precision = Literal["float32", "bfloat16", "float16"]
SHOWN = 8


def capture_finite(
    anatomy: Anatomy,
    images: Float[Tensor, "b 3 h w"],
    *,
    layout: TokenLayout,
    precision: str,
    token_layers: Sequence[int] = (),
) -> LayerCapture:
    """Capture all layers in the asked precision; images that leave the finite numbers are computed again in the model's own.

    Narrow precision is autocast: matrix products run in it, while the residual stream, norms and softmax stay in the model's
    own dtype. "float32" runs no autocast.

    Args:
        anatomy: The frozen model in parts.
        images: Preprocessed pixels.
        layout: The model's token layout.
        precision: "float32", "bfloat16" or "float16".
        token_layers: Blocks, from 0 and rising, all of whose tokens are kept.

    Returns:
        Finite features; ``recomputed`` counts the images computed twice. Cost: one pass, and one more over those images.

    Raises:
        UnknownName: Another precision.
        InvalidInput: The pixels themselves are not finite.
        NumericalFailure: Features are not finite even in the model's own precision; layer and images are named.
    """
    if precision not in get_args(Precision):
        raise UnknownName("precision", precision, get_args(Precision))
    with _arithmetic(precision, images):
        first = capture_layers(anatomy, images, layout=layout, token_layers=token_layers)
    bad_rows = torch.nonzero(~first.finite_images()).flatten()
    if not len(bad_rows):
        return first
    _check_pixels(images)
    if precision == "float32":
        raise _failure(first)
    second = capture_layers(anatomy, images[bad_rows], layout=layout, token_layers=token_layers)
    result = first.with_images(bad_rows, second)
    if not result.finite_images().all():
        raise _failure(result)
    return result


def _arithmetic(precision: str, images: Tensor) -> AbstractContextManager[Any]:
    if precision == "float32":
        return nullcontext()
    return torch.autocast(images.device.type, dtype=getattr(torch, precision))


def _check_pixels(images: Tensor) -> None:
    bad = torch.nonzero(~torch.isfinite(images).flatten(1).all(1)).flatten().tolist()
    if bad:
        raise InvalidInput(
            f"images hold values that are not finite at batch positions {_listed(bad)}. Remove or repair these pictures."
        )


def _failure(capture: LayerCapture) -> NumericalFailure:
    """Name the first layer and the images at which the features stopped being finite."""
    images = torch.nonzero(~capture.finite_images()).flatten().tolist()
    finite_L = torch.isfinite(capture.mean).all(2).all(0)
    if capture.cls is not None:
        finite_L &= torch.isfinite(capture.cls).all(2).all(0)
    if capture.tokens is not None:
        finite_L[list(capture.token_layers)] &= torch.isfinite(capture.tokens).all(3).all(2).all(0)
    layers = torch.nonzero(~finite_L).flatten().tolist()
    where = f"layer {layers[0] + 1} of {len(finite_L)}" if layers else "the final norm or the pooled output"
    return NumericalFailure(
        f"features are not finite from {where} on, at batch positions {_listed(images)}, even in the model's own precision. "
        f"Check the weights and the preprocessing, or load the backbone with dtype=torch.float64."
    )


def _listed(positions: list[int]) -> str:
    more = f" and {len(positions) - SHOWN} more" if len(positions) > SHOWN else ""
    return f"{positions[:SHOWN]}{more}"
