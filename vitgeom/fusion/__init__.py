"""Vertical fusion: one classifier on the whole depth of a frozen backbone, and everything it is compared with."""

from vitgeom.fusion.batch_statistics import with_batch_statistics
from vitgeom.fusion.comparison import Comparison, compare
from vitgeom.fusion.evidence import Evidence, EvidenceSettings, gather_evidence
from vitgeom.fusion.hfusion import HFusionClassifier
from vitgeom.fusion.layer_moments import LayerMoments, layer_moments
from vitgeom.fusion.methods import METHODS, Method, method
from vitgeom.fusion.saving import load, save
from vitgeom.fusion.selection import SELECTIONS, select_layers
from vitgeom.fusion.vfusion import VFusionClassifier

__all__ = [
    "METHODS",
    "SELECTIONS",
    "Comparison",
    "Evidence",
    "EvidenceSettings",
    "HFusionClassifier",
    "LayerMoments",
    "Method",
    "VFusionClassifier",
    "compare",
    "gather_evidence",
    "layer_moments",
    "load",
    "method",
    "save",
    "select_layers",
    "with_batch_statistics",
]
