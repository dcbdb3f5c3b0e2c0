"""The mean over corruptions against plain counting; evaluations that do not belong together are refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tasks.receipt import Receipt
from tasks.shift_results import ShiftAnswers, batch_statistics, result_files
from tasks.shift_summary import summarise
from vitgeom.errors import InvalidInput
from vitgeom.fusion.under_shift import shift_scores
from vitgeom.seeding import generator_for

NUM_TEST = 40
METHODS = {"last_layer": 1, "stacking": 1, "vfusion": 3}


def evaluation(
    folder: Path,
    *,
    corruption: str | None,
    severity: int | None,
    seed: int,
    fused: str = "f" * 64,
    samples: str = "s",
    other: str = "subpopulations",
    enough: bool = True,
) -> Receipt:
    """Write an evaluation with made-up answers as the task does, and return its receipt."""
    generator = generator_for(seed, "answers")
    target = torch.randint(3, (NUM_TEST,), generator=generator)
    predicted = {
        name: torch.randint(3, (count, NUM_TEST), generator=generator) for name, count in METHODS.items()
    }
    adapted = {
        name: torch.randint(3, (count, NUM_TEST), generator=generator)
        for name, count in METHODS.items()
        if enough
    }
    answers = ShiftAnswers(predicted, adapted, target)
    scores = shift_scores(answers.right(), num_resamples=10, generator=generator_for(0, "x"))
    content = {
        "condition": {
            "set": "corrupted" if corruption else other,
            "corruption": corruption,
            "severity": severity,
        },
        "num_samples": NUM_TEST,
        "clean": {
            "num_samples": NUM_TEST,
            "accuracy": {name: {"value": 0.9, "low": 0.8, "high": 1.0} for name in METHODS},
        },
        "rows": [score.to_json() for score in scores],
        "batch_statistics": batch_statistics(
            answers.right(), answers.right_adapted(), num_bootstrap=10, generator=generator_for(0, "y")
        ),
        "groups": None,
        "failures": [],
        "samples": samples,
        "origin": {"comparison": "c" * 64, "fused": fused},
    }
    place = folder / f"{corruption}-{severity}-{seed}"
    place.mkdir()
    for name, data in result_files(content, answers).items():
        (place / name).write_bytes(data)
    return Receipt(
        task="evaluate_shift", key="k", uri=str(place), digest=f"{seed}", seconds=1.5, peak_bytes=10 * seed,
        cached=seed != 1, rows=NUM_TEST,
    )  # fmt: skip


def accuracies(receipt: Receipt, *, adapted: bool = False) -> dict[str, float]:
    content = json.loads(Path(receipt.uri, "evaluation.json").read_bytes())
    rows = (content["batch_statistics"] if adapted else content)["rows"]
    return {row["name"]: row["accuracy"]["value"] for row in rows}


def test_the_mean_is_that_of_the_accuracies_under_damage_alone(tmp_path: Path) -> None:
    damaged = [
        evaluation(tmp_path, corruption="fog", severity=1, seed=1),
        evaluation(tmp_path, corruption="fog", severity=5, seed=2),
        evaluation(tmp_path, corruption="contrast", severity=1, seed=3),
    ]
    groups = evaluation(tmp_path, corruption=None, severity=None, seed=4)
    summary = summarise([*damaged, groups], name="a × b", num_bootstrap=200, seed=0)
    content = json.loads(summary.content)
    means = {row["name"]: row for row in content["mean"]["rows"]}
    for name in METHODS:
        expected = np.mean([accuracies(receipt)[name] for receipt in damaged])
        assert means[name]["accuracy"]["value"] == pytest.approx(expected)
        assert means[name]["accuracy"]["low"] < expected < means[name]["accuracy"]["high"]
    gain = means["vfusion"]["differences"]["last_layer"]["value"]
    assert gain == pytest.approx(
        means["vfusion"]["accuracy"]["value"] - means["last_layer"]["accuracy"]["value"]
    )
    assert content["mean"]["num_conditions"] == 3
    assert [one["condition"]["severity"] for one in content["conditions"]] == [1, 5, 1, None]


def test_the_mean_with_batch_statistics_is_that_of_theirs_and_compared_with_the_mean_as_it_is(
    tmp_path: Path,
) -> None:
    damaged = [evaluation(tmp_path, corruption="fog", severity=number, seed=number) for number in (1, 2, 3)]
    summary = summarise(damaged, name="a × b", num_bootstrap=50, seed=0)
    mean = json.loads(summary.content)["mean"]
    as_is = {row["name"]: row["accuracy"]["value"] for row in mean["rows"]}
    found = {row["name"]: row for row in mean["batch_statistics"]["rows"]}
    for name in METHODS:
        expected = np.mean([accuracies(receipt, adapted=True)[name] for receipt in damaged])
        assert found[name]["accuracy"]["value"] == pytest.approx(expected)
        gain = found[name]["differences"]["itself_as_is"]["value"]
        assert gain == pytest.approx(expected - as_is[name])
        assert summary.receipt.detail["batch_statistics"][name] == found[name]["accuracy"]["value"]
    assert list(found) == list(METHODS)


def test_the_clean_test_split_is_no_condition_and_stands_with_the_clean_figures(tmp_path: Path) -> None:
    fog = evaluation(tmp_path, corruption="fog", severity=1, seed=1)
    clean = evaluation(tmp_path, corruption=None, severity=None, seed=2, other="clean")
    summary = summarise([fog, clean], name="a × b", num_bootstrap=50, seed=0)
    content = json.loads(summary.content)
    assert [one["condition"]["set"] for one in content["conditions"]] == ["corrupted"]
    rows = content["clean"]["batch_statistics"]["rows"]
    assert {row["name"]: row["accuracy"]["value"] for row in rows} == accuracies(clean, adapted=True)
    assert summary.receipt.detail["conditions"] == 1
    without = json.loads(summarise([fog], name="a × b", num_bootstrap=50, seed=0).content)
    assert without["clean"]["batch_statistics"] is None
    assert without["mean"] == content["mean"]
    with pytest.raises(InvalidInput, match="a × b was asked about its clean test split alone"):
        summarise([clean], name="a × b", num_bootstrap=50, seed=0)


def test_without_batch_statistics_the_mean_says_why(tmp_path: Path) -> None:
    fog = evaluation(tmp_path, corruption="fog", severity=1, seed=1, enough=False)
    summary = summarise([fog], name="a × b", num_bootstrap=50, seed=0)
    found = json.loads(summary.content)["mean"]["batch_statistics"]
    assert (found["rows"], summary.receipt.detail["batch_statistics"]) == ([], {})
    assert found["refused"].startswith(f"{NUM_TEST} test images are fewer than")


def test_one_condition_is_its_own_mean(tmp_path: Path) -> None:
    only = evaluation(tmp_path, corruption="fog", severity=3, seed=1)
    summary = summarise([only], name="a × b", num_bootstrap=50, seed=0)
    means = {row["name"]: row["accuracy"]["value"] for row in json.loads(summary.content)["mean"]["rows"]}
    assert means == pytest.approx(accuracies(only))
    assert summary.receipt.detail["accuracy"] == means


def test_sub_populations_alone_have_no_mean_over_damage(tmp_path: Path) -> None:
    groups = evaluation(tmp_path, corruption=None, severity=None, seed=1)
    assert json.loads(summarise([groups], name="a × b", num_bootstrap=50, seed=0).content)["mean"] is None


def test_the_receipt_adds_up(tmp_path: Path) -> None:
    parts = [evaluation(tmp_path, corruption="fog", severity=number, seed=number) for number in (1, 2)]
    receipt = summarise(parts, name="a × b", num_bootstrap=20, seed=0).receipt
    assert (receipt.key, receipt.seconds, receipt.rows, receipt.peak_bytes) == ("a × b", 3.0, 80, 20)
    assert not receipt.cached
    assert receipt.detail["conditions"] == 2


def test_the_same_evaluations_give_the_same_bytes(tmp_path: Path) -> None:
    parts = [evaluation(tmp_path, corruption="fog", severity=number, seed=number) for number in (1, 2)]
    one, two = (summarise(parts, name="a × b", num_bootstrap=20, seed=0) for _ in range(2))
    assert one == two


def test_other_images_have_no_mean(tmp_path: Path) -> None:
    parts = [
        evaluation(tmp_path, corruption="fog", severity=1, seed=1),
        evaluation(tmp_path, corruption="fog", severity=2, seed=2, samples="others"),
    ]
    with pytest.raises(InvalidInput, match="must have the same images in the same order, got 2"):
        summarise(parts, name="a × b", num_bootstrap=20, seed=0)


def test_evaluations_of_other_classifiers_are_refused(tmp_path: Path) -> None:
    parts = [
        evaluation(tmp_path, corruption="fog", severity=1, seed=1),
        evaluation(tmp_path, corruption="fog", severity=2, seed=2, fused="0" * 64),
    ]
    with pytest.raises(InvalidInput, match="must be of the same classifiers, got 2"):
        summarise(parts, name="a × b", num_bootstrap=20, seed=0)
