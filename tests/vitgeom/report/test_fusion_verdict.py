from __future__ import annotations

import dataclasses

import pytest

from tests.support.fused_results import SKILLS, across, fused_pair
from vitgeom.report.fusion_verdict import (
    FusionAnswer,
    answer_to,
    fusion_headline,
    fusion_sentence,
    horizontal_sentence,
)


@pytest.mark.parametrize(
    ("skill", "expected", "words"),
    [
        (0.5, FusionAnswer.BETTER, "it beats the best layer"),
        (0.9, FusionAnswer.SAME, "it is not told apart from the best layer"),
        (0.99, FusionAnswer.WORSE, "it falls behind the best layer"),
    ],
)
def test_the_sentence_says_what_the_paired_interval_says(
    skill: float, expected: FusionAnswer, words: str
) -> None:
    pair = fused_pair(skills={**SKILLS, "best_layer": skill})
    assert answer_to(pair, ("best_layer",)) is expected
    assert words in fusion_sentence(pair)


def test_the_difference_is_vfusion_minus_the_rival() -> None:
    pair = fused_pair()
    fused, best = pair.reference.score, pair.method("best_layer").score  # type: ignore[union-attr]
    gain = 100 * (fused.accuracy.value - best.accuracy.value)
    assert f"difference +{gain:.1f} points" in fusion_sentence(pair)
    assert "it beats the Super Learner" in fusion_sentence(pair)


def test_a_test_of_one_seed_that_says_otherwise_is_told() -> None:
    pair = fused_pair()
    rival = pair.method("best_layer")
    assert rival is not None
    for p, words in (
        (0.062, "McNemar's test, of the first seed alone, does not tell them apart, p = 0.062"),
        (0.01, "; McNemar p = 0.01"),
    ):
        score = dataclasses.replace(rival.score, mcnemar_p=p)
        methods = tuple(
            dataclasses.replace(row, score=score) if row is rival else row for row in pair.methods
        )
        assert words in fusion_sentence(dataclasses.replace(pair, methods=methods))


def test_stacking_and_the_super_learner_go_by_their_own_names() -> None:
    told = fusion_sentence(fused_pair(skills={"best_layer": 0.7, "stacking": 0.5, "vfusion": 0.9}))
    assert "it beats logistic stacking" in told
    assert "Super Learner" not in told
    assert answer_to(fused_pair(), ("stacking",)) is FusionAnswer.UNKNOWN


def test_without_vfusion_nothing_is_claimed() -> None:
    pair = fused_pair(skills={"best_layer": 0.7, "last_layer": 0.6}, reference="best_layer")
    assert fusion_sentence(pair).startswith("VFusion has no result here")
    assert answer_to(pair, ("last_layer",)) is FusionAnswer.UNKNOWN


def test_the_headline_counts_pairs() -> None:
    other = fused_pair(dataset="photos", skills={**SKILLS, "best_layer": 0.9})
    assert fusion_headline([fused_pair(), other]) == (
        "One classifier on all layers (VFusion), over 2 pairs of dataset and backbone: against the best layer better in 1, "
        "not told apart in 1; against logistic stacking not compared in 2; against the Super Learner better in 2."
    )
    assert fusion_headline([]) == "No comparison of methods finished."


def test_several_backbones_are_held_against_each_alone() -> None:
    words = horizontal_sentence(across())
    assert words.startswith("HFusion on all backbones at once gets")
    assert "last layer of a, +" in words
    assert "last layer of b, +" in words
