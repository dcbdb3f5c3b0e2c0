from __future__ import annotations

import dataclasses

from tests.support.directed_results import directed_pair, planted_directions
from vitgeom.report.directed_pair import parse_directed_pair
from vitgeom.report.directions_verdict import (
    bounds_sentence,
    decoder_sentence,
    directions_headline,
    next_steps,
    regime_words,
)
from vitgeom.spectra.advice import NEXT_STEP


def test_the_headline_counts_regimes_and_says_that_bounds_hold() -> None:
    said = directions_headline([directed_pair()])
    assert "over 3 decoders and layers on 1 pair of dataset and backbone" in said
    assert "some tokens far above others in 1; few directions, spread over tokens in 2" in said
    assert "All bounds of the theory hold (36 checks)." in said
    assert directions_headline([]) == "No decoder was diagnosed."


def test_a_broken_bound_is_loud() -> None:
    content = planted_directions()
    content["pairs"][0]["images"][1]["theorems"][0]["holds"] = False
    pair = parse_directed_pair(dataset="digits", backbone="nano", content=content)
    assert "A BOUND DOES NOT HOLD" in directions_headline([pair])
    assert "digits × nano: theorem 2" in bounds_sentence([pair])
    nothing = dataclasses.replace(pair, decoders=(dataclasses.replace(pair.decoders[0], bounds=()),))
    assert bounds_sentence([nothing]) == "No bound of the theory was checked."


def test_a_sentence_has_n_interval_and_chance() -> None:
    [first, _, local] = directed_pair().decoders
    said = decoder_sentence(first)
    assert said.startswith("3 directions hold 87.0 %")
    for words in (
        "n = 3 images",
        "a flat spectrum would give 25.0 %",
        "with prefix tokens by",
        "random directions: 0.408",
    ):
        assert words in said
    assert regime_words(local) == "some tokens far above others: 3 of 3 images"
    assert regime_words(dataclasses.replace(local, close=2)).endswith("; 2 close to a border")


def test_what_holds_by_construction_and_what_never_reacts_is_said() -> None:
    assert "no more outputs than directions, so 2 directions hold everything" in decoder_sentence(
        directed_pair(outputs=2).decoders[0]
    )
    silent = directed_pair(silent=("cls",), images=1).decoders[0]
    assert decoder_sentence(silent) == "On none of 1 image does the output react to these features at all."
    assert regime_words(silent) == "no reaction: 1 of 1 image"


def test_every_regime_that_occurs_has_its_next_step() -> None:
    assert next_steps(directed_pair().decoders) == [
        ("some tokens far above others", "patch mean from layer 8", NEXT_STEP["token_local"]),
        (
            "few directions, spread over tokens",
            "class token from layer 4, class token from layer 8",
            NEXT_STEP["low_rank_delocalised"],
        ),
    ]
