from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import pytest

from tests.support.fused_results import SKILLS, fused_pair
from tests.support.report_results import combination
from vitgeom.bootstrap import Interval
from vitgeom.report.fused_pair import FusedPair
from vitgeom.report.fusion_means import MethodMean, method_means, paper_figures, pooled

PAIRS = (
    fused_pair(),
    fused_pair(dataset="photos", skills={**SKILLS, "vfusion": 0.8}),
    fused_pair(backbone="other"),
)


def means_of(pairs: Sequence[FusedPair]) -> tuple[MethodMean, ...]:
    return method_means(pairs, pooled(pairs))


def test_means_are_over_the_datasets_of_a_backbone() -> None:
    fused = next(mean for mean in means_of(PAIRS) if mean.name == "vfusion")
    accuracies = [pair.reference.score.accuracy.value for pair in PAIRS]
    assert dict(fused.by_backbone) == {
        "nano_supervised": pytest.approx((accuracies[0] + accuracies[1]) / 2),
        "other": pytest.approx(accuracies[2]),
    }


def test_a_method_that_is_missing_somewhere_has_no_mean() -> None:
    few = fused_pair(dataset="photos", skills={"vfusion": 0.8})
    means = {mean.name: dict(mean.by_backbone) for mean in means_of([fused_pair(), few])}
    assert means["best_layer"] == {"nano_supervised": None}
    whole = {mean.name: mean for mean in means_of([fused_pair(), few])}
    assert whole["best_layer"].accuracy is None
    assert whole["best_layer"].difference is None
    assert whole["vfusion"].accuracy is not None
    assert means["vfusion"]["nano_supervised"] is not None


def test_differences_are_to_vfusion_over_all_pairs() -> None:
    means = {mean.name: mean for mean in means_of(PAIRS)}
    gains = [
        pair.method("best_layer").score.accuracy.value - pair.reference.score.accuracy.value for pair in PAIRS
    ]
    found = means["best_layer"].difference
    assert found is not None
    assert found.value == pytest.approx(sum(gains) / 3)
    assert found.low < found.value < found.high < 0
    assert means["vfusion"].difference is None
    assert (means["vfusion"].row.title, means["vfusion"].row.family) == ("VFusion", "vertical")


def test_our_figures_stand_beside_those_of_the_paper() -> None:
    low = dataclasses.replace(combination(dataset="photos"), r_any=Interval(0.2, 0.1, 0.3))
    figures = {
        what: (theirs, ours) for what, theirs, ours in paper_figures(pooled(PAIRS[:1]), [combination(), low])
    }
    pair = PAIRS[0]
    fused, best = pair.reference.score.accuracy.value, pair.comparison.best_layer_accuracy
    closed = (fused - best) / (pair.comparison.oracle - best)
    for what, theirs, ours in (
        ("mean accuracy of VFusion", "91.4 %", f"{100 * fused:.1f} % ("),
        ("VFusion − best layer", "+1.9 points", f"+{100 * (fused - best):.1f} points (+"),
        ("gap between best layer and oracle that VFusion closes", "45 %", f"{100 * closed:.1f} % ("),
    ):
        assert figures[what][0] == theirs
        assert figures[what][1].startswith(ours)
    assert figures["every second layer − all"] == ("−0.9 points", "none")
    assert figures["R_any over datasets and backbones"] == ("18 to 76 %", "20.0 to 70.0 %")
    [alone] = [ours for what, _, ours in paper_figures(pooled(PAIRS[:1]), [low]) if what.startswith("R_any")]
    assert alone == "20.0 %"
