from __future__ import annotations

from vitgeom.bootstrap import Interval
from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_rules import is_beyond, is_clear, is_near, spelled_mean


def found(value: float, low: float, high: float) -> Averaged:
    return Averaged(Interval(value, low, high), 8, 0.1, (value,))


def test_near_needs_the_whole_interval() -> None:
    ceiling = found(0.8, 0.7, 0.9)
    assert is_near(found(0.75, 0.73, 0.77), ceiling)
    assert not is_near(found(0.75, 0.71, 0.79), ceiling)
    assert is_near(found(0.9, 0.88, 0.92), ceiling), "above the agreement of two estimates is near, too"


def test_nothing_is_near_a_ceiling_of_nothing() -> None:
    assert not is_near(found(0.1, 0.0, 0.2), found(0.0, -0.1, 0.1))
    assert not is_near(found(-0.1, -0.1, -0.1), found(-0.5, -0.6, -0.4))


def test_beyond_needs_intervals_apart() -> None:
    assert is_beyond(found(0.5, 0.4, 0.6), found(0.3, 0.2, 0.39))
    assert not is_beyond(found(0.5, 0.4, 0.6), found(0.3, 0.2, 0.4))


def test_clear_from_nine_tenths() -> None:
    assert is_clear(found(0.9, 0.8, 0.95))
    assert not is_clear(found(0.899, 0.88, 0.91))


def test_undefined_is_a_word() -> None:
    assert spelled_mean(None) == "undefined"
    assert spelled_mean(found(0.5, 0.4, 0.6)) == "0.5 (0.4 to 0.6)"
