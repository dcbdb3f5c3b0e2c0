"""A bottleneck as a unit: stored once, the same bytes when interrupted, no more directions behind it than latents."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tasks.bottleneck_material import joined_of
from tasks.train_bottleneck import FIGURES, HISTORY, MODEL, run
from tasks.training_work import PROGRESS, STATE, work
from tests.support.small_bottleneck import bottleneck_request
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import load_bottleneck
from vitgeom.store.uri import Root


def stored(request: Any) -> dict[str, bytes]:
    target = Root(request.store).join(request.path)
    return {name: target.read_bytes(name) for name in (MODEL, HISTORY, FIGURES)}


def test_it_is_trained_once_and_its_file_fits_its_head_alone(tmp_path: Path) -> None:
    request = bottleneck_request(tmp_path)
    first, again = run(request), run(request)
    assert (first.cached, again.cached) == (False, True)
    assert first.digest == again.digest
    target = Root(request.store).join(request.path)
    assert not target.exists(STATE)
    assert not target.exists(PROGRESS)
    load_bottleneck(tmp_path / request.path / MODEL, joined_of(request))
    other = joined_of(request.model_copy(update={"decoder": "scenes_depth"}))
    with pytest.raises(InvalidInput, match="scenes_camera"):
        load_bottleneck(tmp_path / request.path / MODEL, other)


def test_no_more_directions_than_latents_come_out(tmp_path: Path) -> None:
    request = bottleneck_request(tmp_path)
    run(request)
    found = json.loads(stored(request)[FIGURES])
    assert found["images"] == 2
    for stage in ("after", "latent"):
        assert found[stage]["figures"]["participation_ratio"]["mean"]["high"] <= 6
    assert found["rebuild_error"]["mean"]["value"] >= 0
    assert found["task_error"]["mean"]["value"] >= 0


def test_interrupted_it_goes_on_to_the_same_bytes(tmp_path: Path) -> None:
    undisturbed, request = bottleneck_request(tmp_path / "a"), bottleneck_request(tmp_path / "b")
    run(undisturbed)

    def die(report: Any) -> None:
        if report.epoch == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(request, on_report=die)
    run(request)
    assert stored(request) == stored(undisturbed)


def test_a_head_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="scenes_dept"):
        run(bottleneck_request(tmp_path, decoder="scenes_dept"))
