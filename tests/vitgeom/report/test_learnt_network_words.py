from __future__ import annotations

import dataclasses

import pytest

from tests.support.directed_results import TOKENS, WIDTH
from tests.support.learnt_results import RANK, learnt_pair
from vitgeom.report.learnt_alignment import Alignment
from vitgeom.report.learnt_decoder import LearntDecoder
from vitgeom.report.learnt_network_words import alignment_statement, ranks_statement
from vitgeom.report.numbers import significant


def decoder(v1: tuple[float, float, float] = (0.64, 0.71, 0.31)) -> LearntDecoder:
    return learnt_pair(decoders=(("scenes_depth", 8),), v1=v1).decoders[0]


def alignment(v1: tuple[float, float, float] = (0.64, 0.71, 0.31)) -> Alignment:
    found = decoder(v1).alignment
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("v1", "words"),
    [
        (
            (0.70, 0.71, 0.31),
            ("beats one subspace for all images", "it comes near its ceiling (98.6 % of it)"),
        ),
        ((0.50, 0.71, 0.31), ("beats one subspace", "it does not come near its ceiling (70.4 % of it)")),
        ((0.32, 0.71, 0.31), ("does NOT beat one subspace for all images", "does not come near")),
        ((0.10, 0.71, 0.31), ("is WORSE than one subspace for all images", "does not come near")),
    ],
)
def test_what_must_be_beaten_and_what_can_be_reached(
    v1: tuple[float, float, float], words: tuple[str, ...]
) -> None:
    said = alignment_statement(alignment(v1), rank=RANK)
    for part in words:
        assert part in said.verdict
    assert f"a random one {significant(RANK / (TOKENS * WIDTH))}." in said.evidence
    assert f"V1 = {significant(v1[0])} (" in said.evidence


def test_what_is_undefined_is_said() -> None:
    found = alignment()
    nothing = dataclasses.replace(found, learnt=None)
    assert "V1 is undefined" in alignment_statement(nothing, rank=RANK).words
    bare = dataclasses.replace(found, ceiling=None, constant=None, lead=None)
    said = alignment_statement(bare, rank=RANK).verdict
    assert "would do as well is undefined; its ceiling is undefined" in said


def test_the_rank_that_captures_most_is_told_with_what_can_be_captured() -> None:
    said = ranks_statement(decoder())
    assert said.verdict == "Ranks: rank 16 captures most, and no lower one nine tenths of that."
    assert said.evidence == (
        "8 trials, judged on validation images: rank 16 at width 256 captures 49.9 % of the sensitivity of the 63.0 % that any 16 directions hold, "
        "with 6,534,000 parameters."
    )


def test_a_lower_rank_that_does_nearly_as_much_is_told_with_its_price() -> None:
    one = decoder()
    assert one.ranks is not None
    trials = tuple(
        dataclasses.replace(trial, captured=0.48) if (trial.rank, trial.hidden) == (8, 256) else trial
        for trial in one.ranks.trials
    )
    said = ranks_statement(dataclasses.replace(one, ranks=dataclasses.replace(one.ranks, trials=trials)))
    assert said.verdict == "Ranks: rank 16 captures most, and rank 8 nine tenths of that or more."
    assert "; rank 8 at width 256 captures 48.0 % of the sensitivity of the 49.0 %" in said.evidence
    assert said.evidence.endswith("3,462,000 parameters.")


def test_a_sweep_without_a_result_is_told() -> None:
    one = decoder()
    assert one.ranks is not None
    failed = dataclasses.replace(one.ranks, best=())
    assert (
        ranks_statement(dataclasses.replace(one, ranks=failed)).words
        == "Ranks: none of 8 trials has a result."
    )
