from __future__ import annotations

from vitgeom.report.appearance import stylesheet


def test_nothing_is_loaded_and_both_schemes_are_there() -> None:
    rules = stylesheet()
    assert "url(" not in rules
    assert "@import" not in rules
    assert "prefers-color-scheme:dark" in rules
    assert rules.count("{") == rules.count("}")
    assert "FONTS" not in rules
