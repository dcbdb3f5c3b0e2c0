"""Early stopping in the order of the plan: against a walk, trial by trial; and never a stop that is not certain."""

from __future__ import annotations

import random

import pytest

from tasks.halving import Curve, Halving, stops
from tests.oracles.halving_one_by_one import stops_one_by_one

RULE = Halving(grace=1, factor=2, last=9)


def whole(*losses: float) -> Curve:
    return Curve(losses, ended=True)


def random_curves(seed: int, count: int = 12) -> list[list[float]]:
    chance = random.Random(seed)
    return [[chance.choice(range(20)) / 4 for _ in range(chance.randint(1, 10))] for _ in range(count)]


def test_rungs_grow_by_the_factor_and_stay_below_the_end() -> None:
    assert RULE.rungs == (1, 2, 4, 8)
    assert Halving(grace=4, factor=3, last=12).rungs == (4,)
    assert Halving(grace=9, factor=3, last=9).rungs == ()


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("factor", [2, 3])
def test_whole_curves_are_stopped_as_one_by_one(seed: int, factor: int) -> None:
    rule, curves = Halving(grace=1, factor=factor, last=10), random_curves(seed)
    expected = stops_one_by_one(curves, rungs=rule.rungs, factor=factor)
    assert stops([whole(*curve) for curve in curves], rule) == expected


@pytest.mark.parametrize("seed", range(20))
def test_a_stop_that_is_told_early_is_never_taken_back(seed: int) -> None:
    curves, chance = random_curves(seed), random.Random(seed + 100)
    final = stops([whole(*curve) for curve in curves], RULE)
    for _ in range(30):
        seen = [chance.randint(0, len(curve)) for curve in curves]
        partial = [
            Curve(tuple(curve[:count]), ended=count == len(curve) and chance.random() < 0.5)
            for curve, count in zip(curves, seen, strict=True)
        ]
        told = stops(partial, RULE)
        assert all(early in (None, late) for early, late in zip(told, final, strict=True))


@pytest.mark.parametrize("seed", range(10))
def test_cutting_curves_where_they_are_stopped_changes_no_verdict(seed: int) -> None:
    curves = random_curves(seed)
    final = stops([whole(*curve) for curve in curves], RULE)
    cut = [
        whole(*curve) if rung is None else Curve(tuple(curve[: rung + 1]))
        for curve, rung in zip(curves, final, strict=True)
    ]
    assert stops(cut, RULE) == final


def test_the_first_trial_and_ties_go_on() -> None:
    assert stops([whole(1, 1, 1), whole(1, 1, 1), whole(2, 2, 2)], RULE) == [None, None, 1]


def test_a_trial_waits_for_the_verdict_until_those_before_it_are_known() -> None:
    unknown = Curve((3.0,))
    assert stops([unknown, Curve((9.0, 9.0))], RULE) == [None, None]
    assert stops([Curve((3.0, 3.0)), Curve((9.0, 9.0))], RULE) == [None, 1]


def test_a_failed_trial_does_not_count_where_it_did_not_come_to() -> None:
    assert stops([Curve(failed=True), Curve((9.0, 9.0))], RULE) == [None, None]
    assert stops([Curve((1.0, 1.0), failed=True), Curve((9.0, 9.0))], RULE) == [None, 1]
