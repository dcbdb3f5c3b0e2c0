"""Frozen Vision Transformers: loaded and checked, captured layer by layer, run block by block."""

from vitgeom.backbones.backbone import Backbone
from vitgeom.backbones.block_weights import BlockWeights, NormWeights, OtherBlocks
from vitgeom.backbones.capture import LayerCapture
from vitgeom.backbones.device import check_device
from vitgeom.backbones.embedded import EMBEDDED
from vitgeom.backbones.layout import TokenLayout
from vitgeom.backbones.load import load_backbone, open_backbone
from vitgeom.backbones.reference import BackboneRef
from vitgeom.backbones.spec import BackboneSpec

__all__ = [
    "EMBEDDED",
    "Backbone",
    "BackboneRef",
    "BackboneSpec",
    "BlockWeights",
    "LayerCapture",
    "NormWeights",
    "OtherBlocks",
    "TokenLayout",
    "check_device",
    "load_backbone",
    "open_backbone",
]
