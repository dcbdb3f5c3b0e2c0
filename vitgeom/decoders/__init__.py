"""Decoders: frozen, differentiable functions of the tokens of one layer of a Vision Transformer."""

from vitgeom.decoders.camera import CameraConfig, CameraHead
from vitgeom.decoders.cls import cls_decoder
from vitgeom.decoders.depth_anything import depth_anything_decoder, depth_anything_model
from vitgeom.decoders.dpt import DptConfig, DptHead
from vitgeom.decoders.embedded_heads import load_head
from vitgeom.decoders.head_decoder import head_decoder, output_shape
from vitgeom.decoders.head_file import HeadRecord, read_head, write_head
from vitgeom.decoders.patch_mean import patch_mean_decoder
from vitgeom.decoders.pointmap import PointMapConfig, PointMapHead
from vitgeom.decoders.pooled import pooled_decoder
from vitgeom.decoders.probe import head_of_probes, linear_head, probe_decoder
from vitgeom.decoders.protocol import BoundDecoder, Decoder
from vitgeom.decoders.random_head import random_head
from vitgeom.decoders.registry import DECODERS, DecoderEntry, decoders_for, load_decoder
from vitgeom.decoders.tapped import BoundTaps, TappedDecoder, tokens_at
from vitgeom.decoders.tokens import tokens_decoder
from vitgeom.decoders.upconv import UpconvConfig, UpconvHead, read_upconv_head
from vitgeom.decoders.vggt import VggtDecoder, vggt_model

__all__ = [
    "DECODERS",
    "BoundDecoder",
    "BoundTaps",
    "CameraConfig",
    "CameraHead",
    "Decoder",
    "DecoderEntry",
    "DptConfig",
    "DptHead",
    "HeadRecord",
    "PointMapConfig",
    "PointMapHead",
    "TappedDecoder",
    "UpconvConfig",
    "UpconvHead",
    "VggtDecoder",
    "cls_decoder",
    "decoders_for",
    "depth_anything_decoder",
    "depth_anything_model",
    "head_decoder",
    "head_of_probes",
    "linear_head",
    "load_decoder",
    "load_head",
    "output_shape",
    "patch_mean_decoder",
    "pooled_decoder",
    "probe_decoder",
    "random_head",
    "read_head",
    "read_upconv_head",
    "tokens_at",
    "tokens_decoder",
    "vggt_model",
    "write_head",
]
