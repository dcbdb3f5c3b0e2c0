from __future__ import annotations

from typing import Any

import pytest

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.store import token_chunks
from vitgeom.store.layout import FeatureLayout
from vitgeom.store.schema import FEATURES

GOOD: dict[str, Any] = {
    "splits": {"val": 3, "train": 10},
    "num_layers": 3,
    "width": 5,
    "storage_dtype": "float16",
    "rows_per_range": 4,
    "sample_id_width": 7,
    "tokens": ("mean", "cls"),
}


@pytest.mark.parametrize("rows", [1, 3, 4, 5, 8, 9])
def test_ranges_cover_every_row_once_and_own_whole_chunks(rows: int) -> None:
    layout = FeatureLayout.checked(**{**GOOD, "splits": {"train": rows}})
    ranges = layout.ranges("train")
    assert [row for start, stop in ranges for row in range(start, stop)] == list(range(rows))
    assert all(start % 4 == 0 and (stop % 4 == 0 or stop == rows) for start, stop in ranges)
    for start, stop in ranges:
        layout.check_range("train", start, stop)


def test_only_aligned_ranges_pass() -> None:
    layout = FeatureLayout.checked(**GOOD)
    aligned = set(layout.ranges("train"))
    for start in range(-4, 14):
        for stop in range(-4, 15):
            if (start, stop) in aligned:
                continue
            with pytest.raises(InvalidInput, match=f"rows {start}:{stop} of split 'train'"):
                layout.check_range("train", start, stop)


def test_a_chunk_holds_one_layer_of_one_range() -> None:
    layout = FeatureLayout.checked(**GOOD)
    assert layout.shape(FEATURES["cls"], 10) == (10, 3, 5)
    assert layout.chunks(FEATURES["cls"]) == (4, 1, 5)
    assert layout.chunks(FEATURES["sample_id"]) == (4, 7)
    assert layout.layers(FEATURES["cls"]) == [0, 1, 2]
    assert layout.layers(FEATURES["label"]) == [None]
    assert layout.chunk_key(FEATURES["cls"], 8, 2) == "cls/c/2/2/0"
    assert layout.chunk_key(FEATURES["label"], 4, None) == "label/c/1"


def test_the_bytes_are_those_of_the_values() -> None:
    layout = FeatureLayout.checked(**{**GOOD, "tokens": ("cls",)})
    per_row = 3 * 5 * 2 + 5 * 2 + 8 + 8 + 7  # every layer and the final norm in float16, label, group, name
    assert layout.num_bytes == 13 * per_row


def tokens_layout(**changes: Any) -> FeatureLayout:
    return FeatureLayout.checked(**{**GOOD, "token_layers": (0, 2), "num_tokens": 6, **changes})


@pytest.fixture
def two_rows_per_chunk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows of the small layout, 6 tokens of 5 numbers in float16, are a chunk of the wanted size."""
    monkeypatch.setattr(token_chunks, "TARGET_BYTES", 2 * 6 * 5 * 2)


def test_all_tokens_of_chosen_layers_are_cut_into_parts_of_a_range(two_rows_per_chunk: None) -> None:
    layout, spec = tokens_layout(), FEATURES["tokens"]
    assert layout.shape(spec, 10) == (10, 2, 6, 5)
    assert layout.chunks(spec) == (2, 1, 6, 5)
    assert (layout.layers(spec), layout.places(spec)) == ([0, 2], [0, 1])
    assert layout.parts(spec, 4, 8) == [(4, 6, 0), (6, 8, 0), (4, 6, 1), (6, 8, 1)]
    assert layout.parts(spec, 0, 3) == [(0, 2, 0), (2, 3, 0), (0, 2, 1), (2, 3, 1)]
    assert layout.chunk_key(spec, 6, 1) == "tokens/c/3/1/0/0"


def test_every_other_array_has_one_part_per_layer_of_a_range(two_rows_per_chunk: None) -> None:
    layout = tokens_layout()
    assert layout.parts(FEATURES["cls"], 8, 10) == [(8, 10, 0), (8, 10, 1), (8, 10, 2)]
    assert layout.parts(FEATURES["label"], 8, 10) == [(8, 10, None)]


def test_no_chunk_of_tokens_is_shared_by_two_ranges(two_rows_per_chunk: None) -> None:
    layout, spec = tokens_layout(), FEATURES["tokens"]
    keys = [
        layout.chunk_key(spec, part.start, part.place)
        for cut in layout.ranges("train")
        for part in layout.parts(spec, *cut)
    ]
    assert len(keys) == len(set(keys)) == 10 // 2 * 2


def test_without_token_layers_the_declared_layout_is_what_it_was_before_there_were_any() -> None:
    without = FeatureLayout.checked(**GOOD)
    assert without.to_json().keys() == GOOD.keys()
    assert FEATURES["tokens"] not in without.specs
    layout = tokens_layout()
    assert layout.to_json() == {**without.to_json(), "token_layers": [0, 2], "num_tokens": 6}
    assert FeatureLayout.from_json(layout.to_json()) == layout
    assert layout.num_bytes == without.num_bytes + 13 * 2 * 6 * 5 * 2


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"token_layers": (0, 3)}, r"token_layers must be layers 0\.\.2, got 3"),
        ({"token_layers": (-1,)}, r"token_layers must be layers 0\.\.2, got -1"),
        ({"token_layers": (True,)}, "token_layers must be layers .* got True"),
        ({"token_layers": (2, 0)}, r"token_layers must rise from one to the next, got \[2, 0\]"),
        ({"token_layers": (1, 1)}, r"token_layers must rise from one to the next, got \[1, 1\]"),
        ({"num_tokens": 0}, "num_tokens must be a whole number >= 1, got 0"),
        ({"token_layers": ()}, "num_tokens=6 without token_layers: name the layers"),
    ],
)
def test_impossible_token_layers_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        tokens_layout(**change)


def test_splits_and_tokens_have_one_order_and_the_layout_survives_json() -> None:
    layout = FeatureLayout.checked(**GOOD)
    assert layout.splits == (("train", 10), ("val", 3))
    assert layout.tokens == ("cls", "mean")
    assert FeatureLayout.from_json(layout.to_json()) == layout


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"splits": {}}, "splits is empty"),
        ({"splits": {"train": 0}}, r"splits\['train'\] must be a whole number >= 1, got 0"),
        ({"splits": {"../train": 1}}, "split name '../train' must be"),
        ({"splits": {"": 1}}, "split name '' must be"),
        ({"num_layers": 0}, "num_layers must be a whole number >= 1, got 0"),
        ({"width": -1}, "width must be a whole number >= 1, got -1"),
        ({"rows_per_range": 0}, "rows_per_range must be a whole number >= 1, got 0"),
        ({"rows_per_range": True}, "rows_per_range must be a whole number >= 1, got True"),
        ({"sample_id_width": 0}, "sample_id_width must be a whole number >= 1, got 0"),
        ({"storage_dtype": "bfloat16"}, "storage_dtype must be one of float32, float16, got 'bfloat16'"),
        ({"tokens": ()}, "tokens is empty"),
    ],
)
def test_impossible_layouts_are_refused(change: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        FeatureLayout.checked(**{**GOOD, **change})


def test_unknown_tokens_and_splits_are_named() -> None:
    with pytest.raises(UnknownName, match="unknown token 'register'"):
        FeatureLayout.checked(**{**GOOD, "tokens": ("register",)})
    with pytest.raises(InvalidInput, match="split 'test' is not in this store; it holds train, val"):
        FeatureLayout.checked(**GOOD).ranges("test")
