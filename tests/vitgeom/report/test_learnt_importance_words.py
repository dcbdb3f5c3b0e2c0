from __future__ import annotations

import dataclasses
from typing import Any

import pytest

from tests.support.learnt_results import RHO, average, learnt_pair
from vitgeom.report.averaged import parse_averaged
from vitgeom.report.learnt_decoder import LearntDecoder
from vitgeom.report.learnt_importance_words import (
    better_statement,
    importance_statement,
    importance_statements,
    truncation_statement,
)


def decoder(**planted: Any) -> LearntDecoder:
    return learnt_pair(decoders=(("cls", 4),), **planted).decoders[0]


def with_rho(rho: float, **planted: Any) -> LearntDecoder:
    return decoder(rho={**RHO, "importance": rho}, **planted)


@pytest.mark.parametrize(
    ("rho", "ceiling", "verdict"),
    [
        (0.95, 0.985, "near the most that can be asked."),
        (0.6, 0.985, "weaker than its target allows; the target is clear, so the model is what is weak."),
        (0.58, 0.6, "as good as its target allows, but the target is noisy."),
        (0.3, 0.6, "weaker than its target allows, and the target is noisy, too."),
        (0.01, 0.985, "NOT beyond chance; the target is clear, so the model is what is weak."),
        (0.01, 0.6, "NOT beyond chance, and the target is noisy, too."),
        (0.5, 0.0, "it cannot be judged, as two estimates of its target do not agree beyond chance."),
    ],
)
def test_a_weak_model_is_told_apart_from_a_noisy_target(rho: float, ceiling: float, verdict: str) -> None:
    said = importance_statement(with_rho(rho, ceiling=ceiling), "importance")
    assert said.verdict == f"Importance head: {verdict}"
    assert ("More products per target come before a better model." in said.evidence) == (ceiling < 0.9)
    assert "n = 80 test images" in said.evidence


@pytest.mark.parametrize(
    ("rho", "words"),
    [
        (
            0.9,
            "class attention reaches 0.66 (0.634 to 0.686): learning beats it (on the same images 0.24 (0.214 to 0.266) apart).",
        ),
        (0.65, "learning is not told apart from it (on the same images −0.01 (−0.0363 to 0.0163) apart)."),
        (0.4, "BETTER than what was learnt (on the same images −0.26 (−0.286 to −0.234) apart)."),
    ],
)
def test_whether_learning_was_worth_it_is_said(rho: float, words: str) -> None:
    assert importance_statement(with_rho(rho), "importance").evidence.endswith(words)


def test_without_a_score_to_compare_with_nothing_is_compared() -> None:
    one = decoder()
    bare = dataclasses.replace(one, scores={"importance": one.scores["importance"]})
    assert "Without learning" not in importance_statement(bare, "importance").words


def test_what_is_undefined_is_said() -> None:
    one = decoder()
    nothing = dict.fromkeys(one.ceiling)
    silent = dataclasses.replace(one, scores={"importance": nothing}, ceiling=nothing, truncation=None)
    assert "On no image do patches differ" in importance_statement(silent, "importance").words
    assert truncation_statement(silent).words.startswith("Truncation: undefined")
    unknown = dataclasses.replace(one, ceiling=nothing)
    assert "what limits it is unknown" in importance_statement(unknown, "importance").verdict


def test_truncation_is_told_apart() -> None:
    enough = truncation_statement(decoder(truncation=0.96))
    few = truncation_statement(decoder(truncation=0.7))
    assert enough.verdict == "Truncation: 3 directions are enough to rank patches."
    assert few.verdict == "Truncation: 3 directions are too few to rank patches as the whole derivative does."
    assert "0.7 (0.696 to 0.704)" in few.evidence
    assert "importance head 0.9 (0.874 to 0.926); two estimates of them 0.999" in few.evidence
    assert "3 directions" in truncation_statement(dataclasses.replace(decoder(), scores={})).verdict


@pytest.mark.parametrize(
    ("head", "network", "verdict"),
    [
        (0.9, 0.5, "the head gives the better importance, by both targets."),
        (0.5, 0.9, "the network gives the better importance, by both targets."),
        (0.9, 0.89, "the two are not told apart, by both targets."),
    ],
)
def test_head_or_network(head: float, network: float, verdict: str) -> None:
    one = decoder(asked=("importance", "spn"), rho={"importance": head, "spn": network})
    assert better_statement(one).verdict == f"Head or network: {verdict}"
    assert better_statement(one) in importance_statements(one)
    assert len(importance_statements(decoder())) == 2, "with one of them there is nothing to choose"


def test_targets_that_disagree_are_both_told() -> None:
    one = decoder(asked=("importance", "spn"), rho={"importance": 0.9, "spn": 0.5})
    other = {**one.leads["importance"]["spn"], "block_norms": parse_averaged(average(-0.08))}
    mixed = dataclasses.replace(one, leads={"importance": {"spn": other}})
    assert better_statement(mixed).verdict == (
        "Head or network: by importance the head gives the better importance; by block norms the network gives the better importance."
    )
    undefined = dataclasses.replace(one, leads={"importance": {"spn": dict.fromkeys(other)}})
    assert "neither, as ρ is undefined" in better_statement(undefined).verdict


@pytest.mark.parametrize(
    ("one_map", "words"),
    [
        (0.3, "near the most that can be asked."),
        (0.94, "near the most that can be asked, but one map for all images is not told apart from it."),
        (0.99, "near the most that can be asked, but one map for all images is BETTER."),
    ],
)
def test_a_map_that_knows_no_image_must_be_beaten(one_map: float, words: str) -> None:
    said = importance_statement(with_rho(0.95, one_map=one_map), "importance")
    assert said.verdict == f"Importance head: {words}"
