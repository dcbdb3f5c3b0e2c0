from __future__ import annotations

from tests.support.html_checks import read_page
from tests.support.shifted_results import shifted_pair
from vitgeom.report.markup import Markup
from vitgeom.report.numbers import percent, points, signed_points
from vitgeom.report.shift_figures import advantage
from vitgeom.report.shift_tables import conditions, groups, means


def words(html: Markup) -> str:
    return " ".join(" ".join(read_page(html).texts).split())


def test_clean_accuracy_stands_beside_the_mean_with_both_differences() -> None:
    pair = shifted_pair()
    text = words(means(pair))
    assert text.index("Last layer") < text.index("Logistic stacking") < text.rindex("VFusion")
    assert "90.0 % (87.0 to 93.0 %)" in text
    assert "n = 400 test images, each under 4 kinds of damage (2 corruptions, severity 1, 5)" in text
    assert text.count("reference") == 2
    score = pair.mean_score("vfusion")
    assert score is not None
    lost = 100 * (0.9 - score.accuracy.value)
    assert f"+{lost:.1f} points" in text


def test_every_condition_is_a_row() -> None:
    pair = shifted_pair()
    text = words(conditions(pair))
    for one in pair.conditions:
        span = advantage(pair, one.corruption, one.severity)
        assert span is not None
        ends = f"{signed_points(span.low)} to {signed_points(span.high)}"
        assert f"{one.corruption.replace('_', ' ')} {one.severity} {points(span.value)} ({ends})" in text
        last, fused = (one.adapted.score(name) for name in ("last_layer", "vfusion"))
        assert last is not None
        assert fused is not None
        assert f"{percent(last.accuracy.value)} {percent(fused.accuracy.value)}" in text
    assert "VFusion with batch statistics" in text


def test_a_method_without_a_reference_shows_none() -> None:
    text = words(means(shifted_pair(clean={"stacking": 0.8})))
    assert text.endswith("none none")


def test_worst_group_is_named_and_what_is_left_out_is_told() -> None:
    text = words(groups(shifted_pair(groups=True)))
    assert "70.0 % (67.0 to 73.0 %): round on sea" in text
    assert "80.0 % (77.0 to 83.0 %)" in text
    assert "n = round on sea 100, angular on sea 300" in text
    assert "Left out: no image of round on meadow; 2 images of no group." in text
