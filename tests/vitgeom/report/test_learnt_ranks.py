from __future__ import annotations

from typing import Any

import pytest

from tests.support.learnt_results import planted_metric
from vitgeom.report.learnt_ranks import RankSweep, parse_ranks, rank_problems


def content() -> dict[str, Any]:
    return planted_metric(decoders=(("scenes_depth", 8),))["pairs"][0]["ranks"]


def parsed(found: dict[str, Any]) -> RankSweep:
    sweep = parse_ranks(found)
    assert sweep is not None
    return sweep


def test_no_sweep_is_none() -> None:
    assert parse_ranks(None) is None
    assert list(rank_problems(None)) == []


def test_trials_stand_by_width_and_rank_whatever_their_order() -> None:
    found = content()
    found["trials"].reverse()
    sweep = parsed(found)
    assert [(trial.hidden, trial.rank) for trial in sweep.trials] == [
        (hidden, rank) for hidden in (128, 256) for rank in (2, 4, 8, 16)
    ]
    assert {width: [trial.rank for trial in trials] for width, trials in sweep.by_hidden().items()} == {
        128: [2, 4, 8],
        256: [2, 4, 8, 16],
    }, "a trial without a result is not measured"
    assert [rank for rank, _ in sweep.ceilings()] == [2, 4, 8, 16]


def test_the_best_is_one_of_the_trials() -> None:
    sweep = parsed(content())
    assert sweep.winner is not None
    assert (sweep.winner.rank, sweep.winner.hidden) == (16, 256)
    assert list(rank_problems(sweep)) == []
    assert parsed({**content(), "best": None}).winner is None


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["trials"][0].update(captured=1.2), "captured of rank 2, width 128 must be a share"),
        (lambda c: c["trials"][0].update(ceiling=float("nan")), "ceiling of rank 2, width 128"),
        (lambda c: c["trials"][0].update(alignment=-0.1), "alignment of rank 2, width 128"),
        (lambda c: c["trials"][0].update(rank=0), "must have rank and width of at least 1, got 0 and 128"),
        (lambda c: c["trials"].append(c["trials"][0]), "was tried twice"),
        (lambda c: c["best"].update(rank=3), "rank 3 and width 256, is no trial with a result"),
        (lambda c: c["best"].update(hidden=128), "rank 16 and width 128, is no trial with a result"),
    ],
)
def test_what_cannot_be_is_named(change: Any, words: str) -> None:
    found = content()
    change(found)
    assert words in next(rank_problems(parsed(found)))


@pytest.mark.parametrize(
    "missing", ["rank", "hidden", "state", "captured", "ceiling", "alignment", "parameters"]
)
def test_a_missing_part_is_an_error_of_its_key(missing: str) -> None:
    found = content()
    del found["trials"][1][missing]
    with pytest.raises(KeyError, match=missing):
        parse_ranks(found)
