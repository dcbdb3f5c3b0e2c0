"""Decoders: frozen, differentiable functions of the tokens of one layer of a Vision Transformer."""

from vitgeom.decoders.cls import cls_decoder
from vitgeom.decoders.patch_mean import patch_mean_decoder
from vitgeom.decoders.pooled import pooled_decoder
from vitgeom.decoders.probe import head_of_probes, linear_head, probe_decoder
from vitgeom.decoders.protocol import BoundDecoder, Decoder
from vitgeom.decoders.tapped import TappedDecoder, tokens_at
from vitgeom.decoders.tokens import tokens_decoder

__all__ = [
    "BoundDecoder",
    "Decoder",
    "TappedDecoder",
    "cls_decoder",
    "head_of_probes",
    "linear_head",
    "patch_mean_decoder",
    "pooled_decoder",
    "probe_decoder",
    "tokens_at",
    "tokens_decoder",
]
