from __future__ import annotations

from vitgeom.report.statement import Statement


def test_the_verdict_is_bold_and_both_are_escaped() -> None:
    said = Statement("Head: a < b.", "Numbers & more.")
    assert said.words == "Head: a < b. Numbers & more."
    assert said.paragraph() == "<p><b>Head: a &lt; b.</b> Numbers &amp; more.</p>"


def test_a_verdict_may_stand_alone() -> None:
    assert Statement("Nothing.").words == "Nothing."
    assert Statement("Nothing.").paragraph() == "<p><b>Nothing.</b></p>"
