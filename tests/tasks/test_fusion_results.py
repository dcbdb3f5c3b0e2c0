"""Where comparisons lie, and what their files say."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load

from tasks.fusion_results import fusion_path, headline, horizontal_path, result_files
from tasks.method_fit import FailedMethod, fit_method
from tests.support.fusion_data import TEST, evidence, part
from tests.support.small_fusion import Sealed, fusion_request, horizontal_request
from vitgeom.fusion.comparison import Comparison, compare
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.fusion.methods import METHODS
from vitgeom.probes.row_access import as_rows

FIRST = Sealed(Path("/s"), "features/digits/nano/00aa", "d" * 64)
SECOND = Sealed(Path("/s"), "features/digits/micro/00bb", "e" * 64)


def test_the_place_follows_what_decides_the_numbers() -> None:
    base = fusion_path(fusion_request(FIRST))
    assert base.startswith("fusion/digits/nano/")
    assert fusion_path(fusion_request(FIRST, store="/t", threads=2)) == base
    changes = [
        {"seeds": (0,)},
        {"methods": ("vfusion",)},
        {"num_folds": 3},
        {"manifest_digest": "f" * 64},
        {"l2": (1.0,)},
    ]
    assert len({base, *(fusion_path(fusion_request(FIRST, **change)) for change in changes)}) == 6
    across = horizontal_path(horizontal_request(FIRST, SECOND))
    assert across.startswith("horizontal/digits/")
    assert horizontal_path(horizontal_request(SECOND, FIRST)) != across


def test_files_hold_table_predictions_and_classifiers() -> None:
    x, target = part(TEST)
    fits = [
        fit_method(
            METHODS["last_layer"], LastLayerClassifier(), evidence(), test=as_rows(x, name="X"), seeds=(0,)
        ),
        FailedMethod(METHODS["vfusion"], "InvalidInput: no"),
    ]
    predicted = {"last_layer": fits[0].predicted}
    layers = fits[0].predicted.expand(3, -1)
    comparison = compare(
        predicted,
        target,
        layer_predictions=layers,
        best_layer=2,
        reference="last_layer",
        seed=0,
        num_resamples=20,
    )
    files = result_files(
        fits, comparison, predicted=predicted, target=target, layers=layers, origin={"rows": {"test": 300}}
    )
    assert set(files) == {"comparison.json", "predictions.safetensors", "last_layer.safetensors"}
    told = json.loads(files["comparison.json"])
    assert Comparison.from_json(told["comparison"]) == comparison
    assert told["failures"][0]["error"] == "InvalidInput: no"
    assert torch.equal(load(files["predictions.safetensors"])["target"], target)
    figures = headline(fits, comparison)
    assert figures["accuracy"] == {"last_layer": comparison.rows[0].accuracy.value}
    assert figures["failures"] == {"vfusion": "InvalidInput: no"}
    assert set(figures["seconds_per_image"]) == {"last_layer"}
