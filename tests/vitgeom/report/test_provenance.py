from __future__ import annotations

from tests.support.html_checks import PageReader
from vitgeom.report.markup import join
from vitgeom.report.provenance import OPEN_UP_TO, flatten, provenance_blocks


def words(*blocks: str) -> str:
    reader = PageReader()
    reader.feed(join(blocks))
    return " ".join(reader.texts)


def test_what_is_missing_is_shown_as_words() -> None:
    shown = words(*provenance_blocks({"git": {}, "params": {"image_size": None, "refit": False}}))
    assert shown == "git not recorded params (2) image_size none refit false"
    assert words(*provenance_blocks({})) == "Not recorded."


def test_values_are_text_and_lists_are_json() -> None:
    assert words(*provenance_blocks({"a": {"b": {"<c>": ["é", 1.5]}}})) == 'a (1) b.<c> ["é", 1.5]'


def test_only_long_blocks_are_folded() -> None:
    short, long = (
        {"key": {str(number): number for number in range(n)}} for n in (OPEN_UP_TO, OPEN_UP_TO + 1)
    )
    assert "<details open" in provenance_blocks(short)[0]
    assert "<details open" not in provenance_blocks(long)[0]


def test_flatten_keeps_order_and_empty_mappings() -> None:
    assert flatten({"a": {"b": 1, "c": {}}, "d": [1]}) == {"a.b": 1, "a.c": {}, "d": [1]}
