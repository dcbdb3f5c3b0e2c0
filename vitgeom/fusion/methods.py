"""Every method under comparison, by name, in the order of the tables: flows, reports and tests loop over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from vitgeom.errors import UnknownName
from vitgeom.fusion.all_layer_concat import AllLayerConcatClassifier
from vitgeom.fusion.best_layer import BestLayerClassifier
from vitgeom.fusion.best_layer_head import BestLayerHeadClassifier
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.hfusion import HFusionClassifier
from vitgeom.fusion.last4_concat import Last4ConcatClassifier
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.fusion.logit_average import LogitAverageClassifier
from vitgeom.fusion.mixture_of_experts import MixtureOfExpertsClassifier
from vitgeom.fusion.neural_logit_controller import NeuralLogitControllerClassifier
from vitgeom.fusion.probability_average import ProbabilityAverageClassifier
from vitgeom.fusion.stacking import LogisticStackingClassifier
from vitgeom.fusion.super_learner import SuperLearnerClassifier
from vitgeom.fusion.vfusion import VFusionClassifier

Family = Literal["single", "logit-level", "vertical", "horizontal"]

CLASSES: tuple[type[LayerClassifier], ...] = (
    LastLayerClassifier,
    BestLayerClassifier,
    BestLayerHeadClassifier,
    LogitAverageClassifier,
    ProbabilityAverageClassifier,
    SuperLearnerClassifier,
    LogisticStackingClassifier,
    NeuralLogitControllerClassifier,
    MixtureOfExpertsClassifier,
    Last4ConcatClassifier,
    AllLayerConcatClassifier,
    VFusionClassifier,
    HFusionClassifier,
)
"""Classes whose fitted state can be stored."""


@dataclass(frozen=True)
class Method:
    """One entry.

    Attributes:
        name: Key.
        title: As a table shows it.
        family: What it works on: one layer, the layers' outputs, the layers' features, or several backbones.
        description: One sentence.
        make: Takes ``seed`` and returns an unfitted classifier.
        stochastic: Whether the seed changes the result on the same evidence; such a method is run with several.
        several_backbones: Whether it is fitted on a list of features.
    """

    name: str
    title: str
    family: Family
    description: str
    make: Callable[..., LayerClassifier]
    stochastic: bool = False
    several_backbones: bool = False


def _vfusion(name: str, title: str, description: str, **parameters: Any) -> Method:
    return Method(
        name, title, "vertical", description, partial(VFusionClassifier, **parameters), stochastic=True
    )


_LISTED = (
    Method("last_layer", "Last layer", "single", "The probe of the last layer.", LastLayerClassifier),
    Method(
        "best_layer",
        "Best layer",
        "single",
        "The probe of the layer with the best validation accuracy.",
        BestLayerClassifier,
    ),
    Method(
        "best_layer_head",
        "Best layer, VFusion head",
        "single",
        "VFusion's encoder and head on the best layer alone.",
        BestLayerHeadClassifier,
        stochastic=True,
    ),
    Method(
        "logit_average",
        "Logit average",
        "logit-level",
        "The uniform average of the layers' logits, each layer at its own temperature.",
        LogitAverageClassifier,
    ),
    Method(
        "probability_average",
        "Probability average",
        "logit-level",
        "The uniform average of the layers' probabilities, each layer at its own temperature.",
        ProbabilityAverageClassifier,
    ),
    Method(
        "super_learner",
        "Super Learner",
        "logit-level",
        "The convex combination of the layers' probabilities that held-out training rows like best.",
        SuperLearnerClassifier,
    ),
    Method(
        "stacking",
        "Logistic stacking",
        "logit-level",
        "Softmax regression on the layers' held-out logits.",
        LogisticStackingClassifier,
    ),
    Method(
        "neural_logit_controller",
        "Neural Logit Controller",
        "logit-level",
        "A net gives each layer's logits a weight, image by image, before they are summed.",
        NeuralLogitControllerClassifier,
        stochastic=True,
    ),
    Method(
        "mixture_of_experts",
        "Mixture of Experts",
        "logit-level",
        "A net mixes the layers' probabilities, image by image.",
        MixtureOfExpertsClassifier,
        stochastic=True,
    ),
    Method(
        "last4_concat",
        "Last 4 layers + linear",
        "vertical",
        "Softmax regression on the last four layers side by side.",
        Last4ConcatClassifier,
    ),
    Method(
        "all_layer_concat",
        "All layers + linear",
        "vertical",
        "Softmax regression on all layers side by side.",
        AllLayerConcatClassifier,
    ),
    _vfusion(
        "vfusion_last",
        "VFusion, last layer",
        "VFusion's encoder and head on the last layer alone.",
        selection="last",
    ),
    _vfusion(
        "vfusion_strided2",
        "VFusion, every 2nd layer",
        "VFusion on the last layer and every second one before it.",
        selection="strided(2)",
    ),
    _vfusion(
        "vfusion_last_half",
        "VFusion, last half",
        "VFusion on the later half of the layers.",
        selection="last_half",
    ),
    _vfusion(
        "vfusion_no_orth",
        "VFusion without orthogonality",
        "VFusion whose latents may be correlated.",
        orth_weight=0.0,
    ),
    _vfusion("vfusion", "VFusion", "One encoder and head on all layers at once, scaled by quality."),
    Method(
        "hfusion",
        "HFusion",
        "horizontal",
        "VFusion's encoder and head on the last layers of several backbones.",
        HFusionClassifier,
        stochastic=True,
        several_backbones=True,
    ),
)

METHODS: Mapping[str, Method] = MappingProxyType({entry.name: entry for entry in _LISTED})


def method(name: str) -> Method:
    """Return one entry.

    Args:
        name: Key of :data:`METHODS`.

    Raises:
        UnknownName: No such method.
    """
    if name not in METHODS:
        raise UnknownName("method", name, METHODS)
    return METHODS[name]
