"""Metrics that a task puts on features: beyond one point, and learned so that no decoder is needed."""

from vitgeom.metric.alignment import alignment, random_alignment
from vitgeom.metric.constant_importance import constant_importance
from vitgeom.metric.constant_subspace import ConstantSubspace, constant_subspace
from vitgeom.metric.geodesic import Geodesic, geodesic
from vitgeom.metric.importance_head import ImportanceHead
from vitgeom.metric.importance_loss import importance_loss
from vitgeom.metric.pullback_metric import PullbackMetric
from vitgeom.metric.rank_correlation import RankCorrelation, rank_correlation
from vitgeom.metric.saving import MODELS, load, save
from vitgeom.metric.spectral_loss import spectral_loss
from vitgeom.metric.spn import SpectralPullbackNetwork

__all__ = [
    "MODELS",
    "ConstantSubspace",
    "Geodesic",
    "ImportanceHead",
    "PullbackMetric",
    "RankCorrelation",
    "SpectralPullbackNetwork",
    "alignment",
    "constant_importance",
    "constant_subspace",
    "geodesic",
    "importance_loss",
    "load",
    "random_alignment",
    "rank_correlation",
    "save",
    "spectral_loss",
]
