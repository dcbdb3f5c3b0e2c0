from __future__ import annotations

from typing import Any

import pytest

from vitgeom.errors import InvalidInput
from vitgeom.store.schema import TARGETS
from vitgeom.store.target_layout import TargetLayout

GOOD: dict[str, Any] = {
    "splits": {"val": 3, "train": 10},
    "num_tokens": 6,
    "width": 5,
    "rank": 2,
    "storage_dtype": "float16",
    "rows_per_range": 4,
    "sample_id_width": 7,
}


def test_shapes_and_chunks_are_those_of_the_registry() -> None:
    layout = TargetLayout.checked(**GOOD)
    assert layout.shape(TARGETS["right_vectors"], 10) == (10, 6, 5, 2)
    assert layout.chunks(TARGETS["right_vectors"]) == (4, 6, 5, 2)
    assert layout.shape(TARGETS["importance"], 10) == (10, 6)
    assert layout.chunk_key(TARGETS["right_vectors"], 8, None) == "right_vectors/c/2/0/0/0"
    assert layout.layers(TARGETS["importance"]) == [None]
    assert layout.ranges("train") == [(0, 4), (4, 8), (8, 10)]


def test_large_directions_are_cut_into_chunks_of_a_few_megabytes() -> None:
    layout = TargetLayout.checked(
        **{
            **GOOD,
            "num_tokens": 257,
            "width": 384,
            "rank": 20,
            "storage_dtype": "float32",
            "rows_per_range": 8,
        }
    )
    assert layout.chunks(TARGETS["right_vectors"]) == (1, 257, 384, 20)
    assert layout.chunk_rows(TARGETS["importance"]) == 8
    assert [part.start for part in layout.parts(TARGETS["right_vectors"], 0, 3)] == [0, 1, 2]


def test_the_bytes_are_those_of_the_values() -> None:
    layout = TargetLayout.checked(**GOOD)
    directions, names = 6 * 5 * (2 + 1) * 2, 7  # the tokens themselves are one more column
    doubles = 2 + 4 * 6 + 2  # singular values; four figures per token; the norm and its error
    assert layout.num_bytes == 13 * (directions + 8 * doubles + 2 * 8 + names)


def test_it_survives_json() -> None:
    layout = TargetLayout.checked(**GOOD)
    assert layout.to_json()["kind"] == "targets"
    assert TargetLayout.from_json(layout.to_json()) == layout
    with pytest.raises(KeyError, match="other"):
        TargetLayout.from_json({**layout.to_json(), "kind": "other"})


@pytest.mark.parametrize("name", ["num_tokens", "width", "rank", "rows_per_range", "sample_id_width"])
@pytest.mark.parametrize("value", [0, -1, True])
def test_a_number_below_one_is_refused_by_name(name: str, value: Any) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be a whole number >= 1"):
        TargetLayout.checked(**{**GOOD, name: value})


def test_other_dtypes_and_empty_splits_are_refused() -> None:
    with pytest.raises(InvalidInput, match="storage_dtype must be one of float32, float16"):
        TargetLayout.checked(**{**GOOD, "storage_dtype": "int8"})
    with pytest.raises(InvalidInput, match="splits is empty"):
        TargetLayout.checked(**{**GOOD, "splits": {}})
