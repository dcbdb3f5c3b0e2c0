"""Vertical fusion: one classifier on the whole depth of a frozen backbone, and everything it is compared with."""

from vitgeom.fusion.evidence import Evidence, EvidenceSettings, gather_evidence
from vitgeom.fusion.selection import SELECTIONS, select_layers
from vitgeom.fusion.vfusion import VFusionClassifier

__all__ = [
    "SELECTIONS",
    "Evidence",
    "EvidenceSettings",
    "VFusionClassifier",
    "gather_evidence",
    "select_layers",
]
