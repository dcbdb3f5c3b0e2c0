from __future__ import annotations

import json

import pytest
import torch

from tests.vitgeom.metric.bottleneck.conftest import pictures, small_bottleneck
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.linop import JacobianOperator
from vitgeom.metric.bottleneck import ThroughBottleneck, before_after


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


def figures(output: torch.Tensor, truth: torch.Tensor) -> dict[str, float]:
    return {"mean error": float((output - truth).abs().mean())}


@pytest.fixture
def through(joined) -> ThroughBottleneck:
    return ThroughBottleneck(joined, small_bottleneck(joined))


def participation(bound) -> float:
    squared = torch.linalg.svdvals(
        JacobianOperator(bound, bound.features).matmat(torch.eye(bound.features.numel()).double())
    ).square()
    return float(squared.sum() ** 2 / squared.square().sum())


def test_figures_before_and_after_are_those_of_dense_jacobians(joined, through):
    images = pictures(3)
    found = before_after(through, images, rank=5, generator=generator())
    before = [participation(joined.at(image)) for image in images]
    after = [participation(through.at(image)) for image in images]
    means = (sum(before) / 3, sum(after) / 3)
    summaries = [stage.diagnosis.figures["participation_ratio"] for stage in (found.before, found.after)]
    assert [each.mean.value for each in summaries] == pytest.approx(means)
    assert found.fall["participation_ratio"].value == pytest.approx(means[0] / means[1])
    assert found.before.r_90_status == {"exact": 3}
    assert found.images == 3


def test_errors_stand_beside_them(joined, through):
    images = pictures(2)
    found = before_after(through, images, rank=2, generator=generator())
    tokens = joined.tokens(images)
    rebuilt = through.vae(tokens, grid=joined.grid)  # scale not fitted: variances are 1
    assert found.rebuild_error.mean.value == pytest.approx(float((rebuilt - tokens).square().mean()))
    apart = (joined.read(rebuilt) - joined.read(tokens)).square().mean()
    assert found.task_error.mean.value == pytest.approx(float(apart))
    assert found.truth == {}


def test_the_truth_is_held_against_both_where_it_is_known(joined, through):
    images = pictures(3)
    truth = joined(joined.features_of(images[0]))
    found = before_after(
        through, images, truths=[truth, None, None], truth_figures=figures, rank=2, generator=generator()
    )
    original, rebuilt = found.truth["mean error"]
    assert original.mean.value == pytest.approx(0, abs=1e-12)
    wanted = (through(joined.features_of(images[0])) - truth).abs().mean()
    assert rebuilt.mean.value == pytest.approx(float(wanted))
    assert rebuilt.images == 1


def test_one_image_gives_points_instead_of_intervals(through):
    found = before_after(through, pictures(1), rank=2, generator=generator())
    interval = found.rebuild_error.mean
    assert interval.low == interval.value == interval.high


def test_all_of_it_has_a_json_form(through):
    found = before_after(through, pictures(2), rank=2, generator=generator()).to_json()
    assert json.loads(json.dumps(found, allow_nan=False))["after"]["images"] == 2
    assert set(found["fall"]) == {"participation_ratio", "entropy_rank", "stable_rank", "r_90"}


def test_the_same_seed_gives_the_same_figures(through):
    first, second = (
        before_after(through, pictures(2), rank=2, generator=generator()).to_json() for _ in range(2)
    )
    assert first == second


def test_an_image_that_cannot_be_used_is_named(through):
    images = pictures(3)
    images[1, 0, 0, 0] = float("nan")
    with pytest.raises(InvalidInput, match=r"image 1 cannot be used: pixels of the image .* not finite"):
        before_after(through, images, rank=2, generator=generator())


def test_no_images_are_refused(through):
    with pytest.raises(InvalidInput, match="images must hold at least one picture"):
        before_after(through, [], generator=generator())


def test_truths_that_do_not_fit_are_refused(through):
    with pytest.raises(InvalidInput, match="truths and truth_figures go together"):
        before_after(through, pictures(1), truths=[None], generator=generator())
    for truths in ([None], [None] * 3):
        with pytest.raises(InvalidInput, match=rf"truths must be one per image, got {len(truths)} for 2"):
            before_after(
                through, pictures(2), rank=2, truths=truths, truth_figures=figures, generator=generator()
            )


def test_an_unknown_metric_or_recipe_is_refused(through):
    with pytest.raises(UnknownName, match="unknown output metric 'so4'"):
        before_after(through, pictures(1), metric="so4", generator=generator())
    with pytest.raises(UnknownName, match="unknown recipe"):
        before_after(through, pictures(1), recipe="krilov", generator=generator())
