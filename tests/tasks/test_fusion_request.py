"""Requests for fused classifiers: the defaults are those of the library, and what cannot be is refused."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, ValidationError

from tasks.fusion_request import (
    HORIZONTAL,
    VERTICAL,
    ConcatenationSettings,
    EncoderSettings,
    GateSettings,
)
from tests.support.small_fusion import Sealed, fusion_request, horizontal_request
from vitgeom.fusion.concatenation import CONCAT_L2_GRID, ConcatenationClassifier
from vitgeom.fusion.gated_layers import GatedLayersClassifier
from vitgeom.fusion.vfusion import VFusionClassifier

FEATURES = Sealed(Path("/s"), "features/digits/nano/00aa", "d" * 64)


@pytest.mark.parametrize(
    ("settings", "classifier"),
    [
        (EncoderSettings(), VFusionClassifier),
        (GateSettings(), GatedLayersClassifier),
        (ConcatenationSettings(l2=CONCAT_L2_GRID), ConcatenationClassifier),
    ],
)
def test_settings_are_parameters_with_the_defaults_of_the_library(
    settings: BaseModel, classifier: Any
) -> None:
    defaults = {
        name: parameter.default for name, parameter in inspect.signature(classifier).parameters.items()
    }
    assert settings.model_dump() == {name: defaults[name] for name in settings.model_dump()}
    assert set(defaults) - set(settings.model_dump()) <= {"selection", "seed", "device"}


def test_every_method_is_for_one_backbone_or_for_several() -> None:
    assert "vfusion" in VERTICAL
    assert HORIZONTAL == ("hfusion",)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"methods": ("vfuson",)}, "unknown method 'vfuson'. Did you mean 'vfusion'?"),
        ({"methods": ("hfusion",)}, "methods of one backbone are needed here"),
        ({"methods": ("vfusion", "vfusion")}, "each method may be named once"),
        ({"seeds": (1, 1)}, "each seed may be named once"),
        ({"num_folds": 1}, "greater than or equal to 2"),
    ],
)
def test_what_cannot_be_is_refused(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(ValidationError) as refused:
        fusion_request(FEATURES, **changes)
    assert said in str(refused.value)


def test_backbones_are_several_and_each_is_named_once() -> None:
    with pytest.raises(ValidationError, match="at least 2"):
        horizontal_request(FEATURES)
    with pytest.raises(ValidationError, match="one entry per backbone, each named once"):
        horizontal_request(FEATURES, FEATURES, backbones=("a", "a"))


def test_content_leaves_out_where_and_how() -> None:
    base = fusion_request(FEATURES).content()
    assert fusion_request(FEATURES, store="/t", threads=3).content() == base
    assert fusion_request(FEATURES, device="cuda").content() != base
    assert fusion_request(FEATURES, seed=1).content() != base
