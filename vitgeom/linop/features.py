"""What a feature map must be before anything is differentiated at it.   N = tokens, D = width."""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.errors import InvalidInput

DTYPES = (torch.float32, torch.float64)


def check_features(features: object) -> Tensor:
    """Return a copy [N, D] of the features that nobody else holds, outside of any graph and of inference mode.

    Args:
        features: Finite float32 or float64 tokens of one image, N and D >= 1.

    Raises:
        InvalidInput: They are not; the first bad token is named.
    """
    if not isinstance(features, Tensor):
        raise InvalidInput(f"features must be a tensor [N, D], got {type(features).__name__}.")
    if features.ndim != 2 or 0 in features.shape:
        raise InvalidInput(
            f"features must be the tokens of one image, [N, D] with N, D >= 1, got {list(features.shape)}. "
            "Take one image of a batch as features[i], and let the decoder add the batch axis it wants: "
            "lambda f: decoder(f[None])."
        )
    if features.dtype not in DTYPES:
        raise InvalidInput(
            f"features are {features.dtype}: derivatives are computed in float32 or float64 only, narrower products would fail the "
            "adjoint check. Use features.float() and decoder.float()."
        )
    if features.device.type == "meta":
        raise InvalidInput("features are on device 'meta' and hold no values. Load them on a real device.")
    if not bool(features.isfinite().all()):
        token, entry = (~features.isfinite()).nonzero()[0].tolist()
        raise InvalidInput(
            f"features are not finite at token {token}, entry {entry}. Repair or drop that image."
        )
    with torch.inference_mode(False):
        return features.detach().clone(memory_format=torch.contiguous_format)
