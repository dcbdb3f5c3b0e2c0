from __future__ import annotations

import dataclasses

from tests.support.learnt_results import RHO, learnt_pair
from vitgeom.report.learnt_verdict import (
    choice_statement,
    choice_words,
    learnt_headline,
    learnt_statements,
)


def test_the_headline_counts_what_holds() -> None:
    good = learnt_pair(v1=(0.7, 0.71, 0.3))
    bad = learnt_pair(dataset="photos", rho=dict.fromkeys(RHO, 0.2), v1=(0.3, 0.71, 0.3))
    assert learnt_headline([good, bad]) == (
        "Models were trained for 6 of 6 decoders (each at one layer, on 2 pairs of dataset and backbone). The importance head ranks patches near its "
        "ceiling in 1 of 2 and beats one map for all images in 1. The network's directions beat one subspace for all images in 3 of 4 and come near their ceiling in 1. The bottleneck lowers "
        "the effective rank in 2 of 2."
    )


def test_models_that_were_not_trained_are_not_counted() -> None:
    said = learnt_headline([learnt_pair(decoders=(("cls", 4),))])
    assert said.startswith("Models were trained for 1 of 1 decoder (each at one layer, on one pair")
    assert "network" not in said
    assert "bottleneck" not in said
    assert learnt_headline([]) == "No metric was learnt."


def test_the_regime_says_what_is_trained() -> None:
    one = learnt_pair().decoders[1]
    assert choice_words(one) == "few directions, spread over tokens: 72 of 80 validation images"
    said = choice_statement(one)
    assert said.verdict == "Trained: Spectral Pullback Network, as the regime asks."
    assert said.evidence.startswith("By the regime, a few directions spread over all tokens carry the task")


def test_what_was_asked_for_is_told_apart_and_named_for_readers() -> None:
    one = learnt_pair(decoders=(("cls", 4),), asked=("spn", "importance")).decoders[0]
    said = choice_statement(one)
    assert (
        said.verdict
        == "Trained: importance head and Spectral Pullback Network, asked for, whatever the regime."
    )
    assert "Asked for instead" not in said.words
    assert "token_local" not in said.words
    assert said.evidence.endswith("an importance head is trained.")


def test_nothing_trained_is_said() -> None:
    one = learnt_pair(decoders=(("cls", 4),)).decoders[0]
    choice = dataclasses.replace(one.choice, regime="structural", learners=(), counts={"structural": 1})
    bare = dataclasses.replace(one, choice=choice)
    assert choice_statement(bare).verdict == "Trained: nothing, as the regime asks."
    assert choice_words(bare) == "fixed by construction: 1 of 1 validation image"


def test_what_was_chosen_and_has_no_result_is_not_called_trained() -> None:
    one = learnt_pair(decoders=(("patch_mean", 8),)).decoders[0]
    without = dataclasses.replace(one, models={})
    assert choice_statement(without).verdict == "Trained: bottleneck, as the regime asks.", "it has figures"
    nothing = dataclasses.replace(one, models={}, bottleneck=None)
    assert choice_statement(nothing).verdict == "Trained: nothing. Chosen, but without a result: bottleneck."
    both = learnt_pair(decoders=(("cls", 4),), asked=("importance", "bottleneck")).decoders[0]
    half = dataclasses.replace(both, models={"importance": both.models["importance"]}, bottleneck=None)
    assert choice_statement(half).verdict == (
        "Trained: importance head, asked for, whatever the regime. Chosen, but without a result: bottleneck."
    )


def test_every_question_that_can_be_answered_is() -> None:
    leads = [
        [statement.verdict.partition(":")[0] for statement in learnt_statements(one)]
        for one in learnt_pair().decoders
    ]
    assert leads == [
        ["Trained", "Importance head", "Truncation"],
        ["Trained", "Spectral Pullback Network", "Truncation", "Directions", "Ranks"],
        ["Trained", "Truncation", "Bottleneck", "Directions among the latents"],
    ]
