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


def test_every_rank_has_its_best_and_nine_tenths_of_the_most_are_enough() -> None:
    sweep = parsed(content())
    assert [(trial.rank, trial.hidden) for trial in sweep.winners] == [(rank, 256) for rank in (2, 4, 8, 16)]
    assert sweep.most is not None
    assert sweep.enough is not None
    assert (sweep.most.rank, sweep.enough.rank) == (16, 16)
    assert list(rank_problems(sweep)) == []
    flat = content()
    flat["trials"][6]["captured"] = 0.9 * flat["trials"][7]["captured"] + 1e-9
    enough = parsed(flat).enough
    assert enough is not None
    assert enough.rank == 8


def test_the_best_may_be_one_or_none() -> None:
    one = parsed({**content(), "best": {"rank": 4, "hidden": 128}})
    assert [(trial.rank, trial.hidden) for trial in one.winners] == [(4, 128)]
    for nothing in (None, []):
        sweep = parsed({**content(), "best": nothing})
        assert (sweep.winners, sweep.most, sweep.enough) == ((), None, None)


def test_why_a_trial_failed_is_kept() -> None:
    assert [trial.problem for trial in parsed(content()).trials if trial.state == "failed"] == [
        "NumericalFailure: the loss is nan."
    ]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c["trials"][0].update(captured=1.2), "captured of rank 2, width 128 must be a share"),
        (lambda c: c["trials"][0].update(ceiling=float("nan")), "ceiling of rank 2, width 128"),
        (lambda c: c["trials"][0].update(alignment=-0.1), "alignment of rank 2, width 128"),
        (lambda c: c["trials"][0].update(rank=0), "must have rank and width of at least 1, got 0 and 128"),
        (lambda c: c["trials"].append(c["trials"][0]), "was tried twice"),
        (lambda c: c["best"][0].update(rank=3), "rank 3 and width 256, is no trial with a result"),
        (lambda c: c["best"][3].update(hidden=128), "rank 16 and width 128, is no trial with a result"),
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
