"""The register-token bottleneck: fewer directions to learn a metric on, and what they cost (B10 of the methods)."""

from vitgeom.metric.bottleneck.before_after import BeforeAfter, StageFigures, before_after
from vitgeom.metric.bottleneck.fit_check import bottleneck_for
from vitgeom.metric.bottleneck.joined_taps import JoinedTaps
from vitgeom.metric.bottleneck.learner import BottleneckLearner
from vitgeom.metric.bottleneck.loading import load_bottleneck
from vitgeom.metric.bottleneck.point import PointOf
from vitgeom.metric.bottleneck.through_bottleneck import FromLatents, ThroughBottleneck
from vitgeom.metric.bottleneck.token_examples import TokenExamples
from vitgeom.metric.bottleneck.vae import BottleneckVAE, Latents

__all__ = [
    "BeforeAfter",
    "BottleneckLearner",
    "BottleneckVAE",
    "FromLatents",
    "JoinedTaps",
    "Latents",
    "PointOf",
    "StageFigures",
    "ThroughBottleneck",
    "TokenExamples",
    "before_after",
    "bottleneck_for",
    "load_bottleneck",
]
