from __future__ import annotations

from tests.support.fused_results import across, fused_pair
from vitgeom.report.fusion_figures import accuracy_by_method
from vitgeom.report.verdict import spelled


def test_every_method_is_drawn_and_said() -> None:
    pair = fused_pair()
    drawing = accuracy_by_method(pair, name="methods-1")
    for row in pair.methods:
        assert row.title in drawing.body
        assert f"{row.title} {spelled(row.score.accuracy)}" in drawing.description
    assert "n = 300 test images" in drawing.description


def test_families_differ_in_marker_and_are_named_once() -> None:
    body = accuracy_by_method(across(), name="methods-1").body
    assert body.count(">horizontal<") == 1
    assert body.count(">single<") == 1


def test_same_pair_same_drawing() -> None:
    assert accuracy_by_method(fused_pair(), name="m") == accuracy_by_method(fused_pair(), name="m")
