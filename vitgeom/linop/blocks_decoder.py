"""The rest of a backbone as a decoder of its tokens after some block.   N = tokens, D = width, M = outputs."""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.backbones import Backbone
from vitgeom.errors import InvalidInput
from vitgeom.linop.features import check_features
from vitgeom.linop.readout import choose_readout


class BlocksDecoder:
    """T(F) = read(finish(blocks(F))) with blocks ``start`` .. ``stop`` - 1: a function [N, D] -> [M].

    Args:
        backbone: Frozen.
        features: F, in the backbone's dtype, on its device and of its width; N may differ from the backbone's own.
        start: First block, 0-based; F is what it sees.
        stop: One past the last block; None: all that there are.
        finish: Whether the norm after the last block is applied.
        readout: "cls", "patch_mean" or "tokens".

    Attributes:
        features: F, copied.
        readout: What is read at the end.

    Raises:
        InvalidInput: Features, range or readout do not fit the backbone.
    """

    def __init__(
        self,
        backbone: Backbone,
        features: object,
        *,
        start: int,
        stop: int | None,
        finish: bool,
        readout: str,
    ) -> None:
        self.features = check_features(features)
        _check_fit(backbone, self.features)
        self.backbone, self.finish = backbone, finish
        self.start, self.stop = start, backbone.spec.num_blocks if stop is None else stop
        self.readout = choose_readout(readout, layout=backbone.spec.layout, num_tokens=len(self.features))

    def __call__(self, features: Tensor) -> Tensor:
        """Return T(F)."""
        tokens = self.backbone.blocks(features[None], self.start, self.stop)
        return self.readout.read(self.backbone.finish(tokens)[0] if self.finish else tokens[0])


def _check_fit(backbone: Backbone, features: Tensor) -> None:
    wanted: torch.dtype = backbone.dtype
    if features.dtype != wanted or features.device != backbone.device:
        raise InvalidInput(
            f"features are {features.dtype} on {features.device}, backbone {backbone.spec.name!r} {wanted} on {backbone.device}. "
            "Convert them with features.to(backbone.device, backbone.dtype), or load the backbone with that dtype and device."
        )
    if features.shape[1] != backbone.spec.width:
        raise InvalidInput(
            f"features have width {features.shape[1]}, but backbone {backbone.spec.name!r} has {backbone.spec.width}. "
            "Take the tokens of its own blocks."
        )
