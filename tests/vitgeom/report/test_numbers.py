from __future__ import annotations

import pytest

from vitgeom.report.numbers import (
    between,
    counted,
    duration,
    percent,
    points,
    scientific,
    signed_points,
    significant,
    size,
)


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0.0 %"), (0.98765, "98.8 %"), (1.0, "100.0 %"), (None, "no errors")]
)
def test_percent(share: float | None, text: str) -> None:
    assert percent(share, missing="no errors") == text


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (0.0123, "+1.2 points"),
        (-0.0123, "−1.2 points"),
        (0.0, "0.0 points"),
        (-0.0001, "0.0 points"),
        (None, "none"),
    ],
)
def test_points_carry_their_sign(difference: float | None, text: str) -> None:
    assert points(difference) == text


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [
        (0, "0 B"),
        (999, "999 B"),
        (1000, "1.0 kB"),
        (999_960, "1.0 MB"),
        (5_242_880, "5.2 MB"),
        (10**18, "1000.0 PB"),
        (None, "none"),
    ],
)
def test_size_changes_unit_before_it_rounds_to_a_thousand(num_bytes: int | None, text: str) -> None:
    assert size(num_bytes) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.004, "0.00 s"),
        (3.214, "3.21 s"),
        (64.2, "64 s"),
        (187.0, "3 min 07 s"),
        (7325.0, "2 h 02 min"),
        (None, "none"),
    ],
)
def test_duration(seconds: float | None, text: str) -> None:
    assert duration(seconds) == text


def test_scientific() -> None:
    assert scientific(0.00012345) == "1.2e-04"
    assert scientific(None, missing="-") == "-"


def test_a_share_that_rounds_to_nothing_has_no_sign() -> None:
    assert percent(-1e-9) == "0.0 %"
    assert percent(-0.01) == "-1.0 %"


def test_the_ends_of_an_interval_have_the_signs_of_its_middle() -> None:
    assert [signed_points(share) for share in (0.0, -0.0, 0.0001, 0.0123, -0.0123)] == [
        "0.0",
        "0.0",
        "0.0",
        "+1.2",
        "−1.2",
    ]


def test_one_is_singular() -> None:
    assert [counted(number, "pair") for number in (0, 1, 2, 1200)] == [
        "0 pairs",
        "1 pair",
        "2 pairs",
        "1,200 pairs",
    ]


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0"),
        (0.45678, "0.457"),
        (-2.0, "−2"),
        (282.4, "282"),
        (12345.0, "12,300"),
        (999999.0, "1.0e+06"),
        (0.000123, "1.2e−04"),
        (None, "none"),
    ],
)
def test_significant(number: float | None, text: str) -> None:
    assert significant(number) == text


def test_between_shows_a_spread_where_there_is_one() -> None:
    assert between(0.45, 0.4, 0.512) == "0.45 (0.4 to 0.512)"
    assert between(0.45, 0.45, 0.45) == "0.45"
