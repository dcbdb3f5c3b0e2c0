from __future__ import annotations

from pathlib import Path

import pytest

from tasks.metric_times import EXACT, metric_times
from tasks.train_metric import run
from tests.support.small_metric import request_of
from vitgeom.errors import InvalidInput, StoreError


def test_times_of_models_and_exact_targets_are_found_in_the_store(tmp_path: Path) -> None:
    receipts = [run(request_of(tmp_path, seed=seed)) for seed in (0, 1)]
    request = request_of(tmp_path)
    pair = {
        "decoder": {"name": "cls", "layer": 3, "metric": "euclidean"},
        "origin": {
            "address": request.address,
            "models": {"importance": [each.uri.removeprefix(f"{tmp_path}/") for each in receipts]},
        },
    }
    [(label, found)] = metric_times(str(tmp_path), {"pairs": [pair]}).items()
    assert label == "cls-layer3"
    measured = [each.detail["seconds_per_image"] for each in receipts]
    assert min(measured) > 0
    assert found["importance"] == pytest.approx(sum(measured) / 2)
    # Every range of the made-up store is said to have taken one second: 3, 2 and 2 of them for 12 images.
    assert found[EXACT] == pytest.approx(7 / 12)
    (Path(receipts[0].uri) / "done.json").unlink()
    with pytest.raises(StoreError):
        metric_times(str(tmp_path), {"pairs": [pair]})


def test_how_patches_lie_reaches_the_model(tmp_path: Path) -> None:
    flat, tall = (run(request_of(tmp_path, grid=grid)) for grid in ((1, 5), (5, 1)))
    assert flat.uri != tall.uri
    assert flat.digest != tall.digest
    with pytest.raises(InvalidInput, match="grid must hold the 5 patches, got 2 x 3"):
        run(request_of(tmp_path, grid=(2, 3)))
