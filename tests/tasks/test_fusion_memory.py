"""The formula grows with everything that takes memory; processes are measured against it in the test of the catalogue."""

from __future__ import annotations

import dataclasses

import pytest

from tasks.fusion_memory import FusionSize, fusion_bytes

SIZE = FusionSize(train=1000, rows=1500, num_layers=12, width=192, num_classes=10)
SETTINGS = {"num_problems": 9, "components": 512, "most_components": 4096, "num_classifiers": 20}


@pytest.mark.parametrize(
    "more",
    [
        {"train": 20_000, "rows": 20_500},
        {"rows": 9000},
        {"num_layers": 24},
        {"width": 768},
        {"num_classes": 1000},
    ],
)
def test_larger_features_take_more(more: dict[str, int]) -> None:
    assert fusion_bytes(dataclasses.replace(SIZE, **more), **SETTINGS) > fusion_bytes(SIZE, **SETTINGS)


@pytest.mark.parametrize("more", [{"components": 900}, {"num_classifiers": 60}])
def test_larger_models_take_more(more: dict[str, int]) -> None:
    assert fusion_bytes(SIZE, **{**SETTINGS, **more}) > fusion_bytes(SIZE, **SETTINGS)
