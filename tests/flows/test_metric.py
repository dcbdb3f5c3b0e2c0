"""Learning metrics as a sub-flow: files in the results folder, nothing twice, and a regime that decides unless somebody else does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from flows.metric import metric
from flows.metric_requests import target_settings
from flows.outcome import PartsFailed
from flows.study import Study
from tests.flows.conftest import TWO_BACKBONES
from tests.flows.params_text import write_small
from vitgeom.metric.choice import FOR_REGIME, choose


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_small(tmp_path, backbones=TWO_BACKBONES)
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    return tmp_path


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in (folder / "results/small").rglob("*.metric.json")}


def pairs(folder: Path) -> list[dict[str, Any]]:
    return [pair for data in files(folder).values() for pair in json.loads(data)["pairs"]]


def test_every_cell_leaves_a_file_and_a_second_run_computes_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first = metric.fn(Study())
    before = files(folder)
    assert len(before) == 2
    again = metric.fn(Study())
    assert files(folder) == before
    assert [outcome.receipt.cached for outcome in (*first, *again) if outcome.receipt] == [False] * 2 + [
        True
    ] * 2
    assert "Asked for instead" in capsys.readouterr().out or all(
        set(FOR_REGIME[pair["choice"]["regime"]]) == {"importance", "spn"} for pair in pairs(folder)
    )


def test_every_figure_has_its_ceiling_its_floor_and_its_interval(folder: Path) -> None:
    metric.fn(Study())
    for pair in pairs(folder):
        assert pair["images"] == {"train": 6, "val": 3, "test": 3}
        assert pair["alignment"]["chance"] < pair["alignment"]["learnt"]["mean"]["value"] <= 1
        # The recipe is exact here: two estimates are one.
        assert pair["recipe"] == "exact"
        assert pair["alignment"]["ceiling"]["mean"]["value"] == pytest.approx(1, abs=1e-3)
        assert pair["importance"]["ceiling"]["importance"]["mean"]["value"] == pytest.approx(1, abs=1e-6)
        scores = pair["importance"]["scores"]
        assert {
            "importance",
            "spn",
            "exact block norms",
            "one map for all images",
            "feature norm",
            "class attention",
            "random",
        } == set(scores)
        for by_target in scores.values():
            for found in by_target.values():
                assert found["mean"]["low"] <= found["mean"]["value"] <= found["mean"]["high"]
        assert len(scores["importance"]["importance"]["seeds"]) == 2
        assert [trial["rank"] for trial in pair["ranks"]["trials"]] == [2, 4]
        assert all(trial["captured"] <= trial["ceiling"] + 1e-6 for trial in pair["ranks"]["trials"])


def test_the_regime_decides_where_it_is_let(folder: Path) -> None:
    metric.fn(Study(overrides=("metric.learn=by_regime", "metric.sweep.ranks=[]")))
    for pair in pairs(folder):
        choice = choose(pair["choice"]["counts"], has_head=False)
        assert not choice.asked
        assert pair["choice"] == choice.to_json()
        assert list(pair["models"]) == list(choice.learners)
        assert pair["ranks"] is None
        assert pair["bottleneck"] is None


def test_the_second_estimate_is_of_test_images_with_other_random_numbers(folder: Path) -> None:
    wanted = Study().resolve()
    first, again = (target_settings(wanted, again=each) for each in (False, True))
    assert first.splits == ("train", "val", "test")
    assert again.splits == ("test",)
    assert first.images_of("test") == again.images_of("test") == 3
    assert first.seed != again.seed


def test_a_decoder_that_cannot_be_had_stops_no_other_cell(folder: Path) -> None:
    with pytest.raises(PartsFailed, match="layer"):
        metric.fn(Study(overrides=("metric.layers=[99]",)))
    assert not files(folder)


def test_cells_can_be_left_out(folder: Path) -> None:
    cells = Study().resolve().cells
    [outcome] = metric.fn(Study(), left_out=[cells[0].name])
    assert outcome.cell.name == cells[1].name


def test_a_bottleneck_is_told_with_what_it_costs(folder: Path) -> None:
    write_small(folder, datasets="[scenes]", backbones="[nano_supervised]")
    [outcome] = metric.fn(
        Study(
            overrides=(
                "metric.decoders=[scenes_camera]",
                "metric.learn=[bottleneck]",
                "metric.layers=[8, 10]",
            )
        )
    )
    assert outcome.receipt is not None
    first, second = pairs(folder)
    assert first["models"] == second["models"] == {}
    # All taps lie in front of it, so both layers have the same one.
    assert first["bottleneck"] == second["bottleneck"]
    found = first["bottleneck"]
    behind = found["behind"]
    assert behind["shape"][1] == 8, "targets of the latents, not of tokens"
    assert behind["alignment"]["learnt"]["mean"]["value"] > behind["alignment"]["chance"] > 0
    assert len(behind["models"]["spn"]["seeds"]) == 2
    assert (found["registers"], found["width"]) == (2, 4)
    for name in ("participation_ratio", "entropy_rank"):
        assert found["figures"][name]["after"]["mean"]["value"] <= 8
    assert found["rebuild_error"]["mean"]["value"] > 0
