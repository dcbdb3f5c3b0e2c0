"""From a request to unfitted classifiers: which settings belong to which kind of method."""

from __future__ import annotations

from typing import Any

from tasks.fusion_request import FusionSettings
from vitgeom.fusion.best_layer_head import BestLayerHeadClassifier
from vitgeom.fusion.concatenation import ConcatenationClassifier
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.gated_layers import GatedLayersClassifier
from vitgeom.fusion.methods import Method
from vitgeom.fusion.vfusion import VFusionClassifier

BLOCKS: tuple[tuple[type[LayerClassifier], str], ...] = (
    (VFusionClassifier, "encoder"),
    (BestLayerHeadClassifier, "encoder"),
    (GatedLayersClassifier, "gate"),
    (ConcatenationClassifier, "concatenation"),
)
"""Kind of classifier -> the request's block of settings for it; the other kinds have none."""


def unfitted_method(entry: Method, request: FusionSettings) -> LayerClassifier:
    """Return a classifier with the request's settings; what defines the method, and what it does not take, is left alone.

    Args:
        entry: Which method.
        request: Its seed decides sketches; methods with randomness are given seeds of their own later.
    """
    one = entry.make(seed=request.seed)
    defining = set(getattr(entry.make, "keywords", ()))
    free = set(one.get_params(deep=False)) - defining
    wanted = {"device": request.device, **_settings_for(one, request)}
    settings = {name: value for name, value in wanted.items() if name in free}
    return type(one)(**{**one.get_params(deep=False), **settings})


def _settings_for(one: LayerClassifier, request: FusionSettings) -> dict[str, Any]:
    for kind, block in BLOCKS:
        if isinstance(one, kind):
            settings: dict[str, Any] = getattr(request, block).model_dump()
            return settings
    return {}
