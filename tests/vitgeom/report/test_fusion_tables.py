from __future__ import annotations

import pytest

from tests.support.fused_results import across, fused_pair
from tests.support.html_checks import read_page
from tests.support.report_results import combination
from vitgeom.report import fusion_tables
from vitgeom.report.fusion_means import pooled
from vitgeom.report.fusion_tables import count
from vitgeom.report.numbers import short_time


def words(html: str) -> str:
    return " ".join(" ".join(read_page(html).texts).split())


def test_methods_have_their_numbers_and_failures_their_reason() -> None:
    text = words(fusion_tables.methods(fused_pair(failures={"stacking": "InvalidInput: <no>"})))
    for part in (
        "difference to VFusion",
        "reference",
        "12.3 k",
        "24.7 k",
        "25 µs",
        "not recorded",
        "n = 300 test images",
    ):
        assert part in text
    assert "Logistic stacking could not be fitted InvalidInput: <no>" in text
    assert "no randomness" in text


def test_differences_carry_their_sign() -> None:
    assert "−" in words(fusion_tables.methods(across()))


def test_means_and_paper_have_a_column_per_backbone() -> None:
    pairs = [fused_pair(), fused_pair(backbone="other", skills={"vfusion": 0.9})]
    whole = pooled(pairs)
    text = words(fusion_tables.means(pairs, whole))
    assert "gap closed on nano_supervised on other backbone passes" in text
    assert "over 2 pairs of 1 dataset and 2 backbones, n = 300 test images" in text
    alone = words(fusion_tables.means(pairs[:1], pooled(pairs[:1])))
    assert "over 1 pair of 1 dataset and 1 backbone, n = 300 test images" in alone
    assert "not on all" in text
    assert "Paper / here" in words(fusion_tables.paper(whole, [combination()]))


@pytest.mark.parametrize(
    ("number", "text"),
    [(None, "none"), (0, "0"), (999, "999"), (1234, "1.23 k"), (999_600, "1 M"), (5_000_000_000, "5 G")],
)
def test_counts_have_three_digits(number: int | None, text: str) -> None:
    assert count(number) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(None, "none"), (2.5e-5, "25 µs"), (0.0123, "12.3 ms"), (2.34, "2.34 s")]
)
def test_times_are_short(seconds: float | None, text: str) -> None:
    assert short_time(seconds) == text
