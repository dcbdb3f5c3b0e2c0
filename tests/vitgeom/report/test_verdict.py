from __future__ import annotations

import dataclasses

import pytest

from tests.support.report_results import combination, exactly, no_errors, not_beyond_chance, one_layer
from vitgeom.bootstrap import Interval
from vitgeom.report.combination import Combination
from vitgeom.report.verdict import (
    Answer,
    answer,
    best_layer_sentence,
    comparisons,
    enumerate_words,
    recoverability_sentence,
    spelled,
)


def with_levels(**levels: Interval | None) -> Combination:
    base = {
        "r_any": Interval(0.6, 0.5, 0.7),
        "floor_uniform": exactly(0.2),
        "floor_permutation": Interval(0.2, 0.1, 0.3),
        "refit_control": Interval(0.2, 0.1, 0.3),
    }
    return dataclasses.replace(combination(), **{**base, **levels})


@pytest.mark.parametrize(
    ("levels", "kind"),
    [
        ({}, Answer.YES),
        ({"floor_uniform": exactly(0.499)}, Answer.YES),
        # equality is not beyond
        ({"floor_uniform": exactly(0.5)}, Answer.NO),
        # the value alone is above, its interval is not
        ({"floor_uniform": exactly(0.55)}, Answer.NO),
        ({"floor_permutation": Interval(0.4, 0.3, 0.5)}, Answer.NO),
        ({"refit_control": Interval(0.4, 0.3, 0.5)}, Answer.BEYOND_GUESSING),
        ({"refit_control": None}, Answer.BEYOND_GUESSING),
        ({"refit_control": Interval(0.4, 0.3, 0.5), "floor_uniform": exactly(0.9)}, Answer.NO),
    ],
)
def test_yes_needs_the_lower_end_above_every_upper_end(
    levels: dict[str, Interval | None], kind: Answer
) -> None:
    assert answer(with_levels(**levels)) is kind


def test_no_errors_and_one_layer_have_no_comparison() -> None:
    assert answer(no_errors()) is Answer.NO_ERRORS
    assert answer(one_layer()) is Answer.ONE_LAYER
    assert comparisons(no_errors()) == comparisons(one_layer()) == ()


def test_a_yes_names_value_interval_errors_and_each_level() -> None:
    sentence = recoverability_sentence(combination())
    assert "70.0 % (61.0 to 79.0 %) of the 57 test images" in sentence
    assert (
        "This exceeds uniform guessing 34.4 %, permuted predictions 38.0 % (30.0 to 47.0 %) and refits"
        in sentence
    )


def test_a_no_says_plainly_that_the_floor_is_not_exceeded() -> None:
    sentence = recoverability_sentence(not_beyond_chance())
    assert "The 95 % interval of this share does not lie above uniform guessing 34.4 %" in sentence
    assert "This exceeds" not in sentence


def test_where_guessing_recovers_nearly_all_the_images_cannot_tell() -> None:
    few_classes = combination(num_classes=3, uniform=0.988, r_any=Interval(0.99, 0.97, 1.0))
    sentence = recoverability_sentence(few_classes)
    assert "With 3 classes, 4 guesses alone recover 98.8 %, so these images can hardly tell" in sentence
    assert answer(few_classes) is Answer.NO


def test_refits_alone_are_told_apart_from_guessing() -> None:
    sentence = recoverability_sentence(with_levels(refit_control=Interval(0.5, 0.4, 0.6)))
    assert (
        "exceeds guessing, but it does not exceed refits of the last layer 50.0 % (40.0 to 60.0 %)"
        in sentence
    )


def test_one_error_is_singular() -> None:
    assert "of the 1 test image that" in recoverability_sentence(dataclasses.replace(combination(), errors=1))


@pytest.mark.parametrize("pair", [no_errors(), one_layer()])
def test_missing_numbers_never_show(pair: Combination) -> None:
    text = recoverability_sentence(pair) + best_layer_sentence(pair)
    assert " nan" not in text.lower()
    assert "None" not in text


def test_best_layer_sentence_gives_the_paired_difference() -> None:
    sentence = best_layer_sentence(combination())
    assert sentence.startswith("Best by validation is layer 4 of 5: test accuracy 86.0 % (83.0 to 89.0 %)")
    assert sentence.endswith(
        "difference +2.0 points (95 % interval +0.4 points to +3.6 points; McNemar p = 0.012)."
    )


def test_difference_around_zero_is_called_that() -> None:
    pair = dataclasses.replace(combination(), gain=Interval(0.01, -0.01, 0.03))
    assert best_layer_sentence(pair).endswith("not told apart from zero.")


def test_last_layer_may_be_the_best() -> None:
    assert best_layer_sentence(combination(best_layer=5)).startswith(
        "The last of 5 layers is also the best one"
    )


def test_spelled_and_enumerated() -> None:
    assert spelled(exactly(0.5)) == "50.0 %"
    assert spelled(None, missing="no errors") == "no errors"
    assert [enumerate_words(words) for words in (["a"], ["a", "b"], ["a", "b", "c"])] == [
        "a",
        "a and b",
        "a, b and c",
    ]
