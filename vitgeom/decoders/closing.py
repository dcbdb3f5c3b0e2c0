"""The last layer as the backbone itself closes it: after the final norm.   B = images, N = tokens, D = width."""

from __future__ import annotations

from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones import Backbone
from vitgeom.backbones.anatomy import final_norm


def closed_cls(backbone: Backbone, tokens: Float[Tensor, "b n d"]) -> Float[Tensor, "b d"]:
    """Return the class token after the final norm: ``LayerCapture.cls_normed``.

    Args:
        backbone: With a class token.
        tokens: Raw, of the last layer.
    """
    return final_norm(backbone.model)(tokens[:, 0])


def closed_patch_mean(backbone: Backbone, tokens: Float[Tensor, "b n d"]) -> Float[Tensor, "b d"]:
    """Return norm, then mean over patches (mean, then norm, where the model pools before its norm): ``LayerCapture.mean_normed``.

    Args:
        backbone: Any.
        tokens: Raw, of the last layer.
    """
    norm, prefix = final_norm(backbone.model), backbone.spec.layout.num_prefix
    pools_first = norm is not backbone.model.norm
    return norm(tokens[:, prefix:].mean(dim=1)) if pools_first else norm(tokens)[:, prefix:].mean(dim=1)
