from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.support.feature_stores import SHAPE, range_arrays
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.store.admission import admit
from vitgeom.store.layout import FeatureLayout


def _layout(storage_dtype: str = "float32") -> FeatureLayout:
    return FeatureLayout.checked(
        splits={"train": 100},
        storage_dtype=storage_dtype,
        tokens=("cls", "mean"),
        **{**SHAPE, "rows_per_range": 8},
    )


def _admit(
    changes: dict[str, Any], *, storage_dtype: str = "float32", start: int = 8
) -> dict[str, np.ndarray]:
    layout = _layout(storage_dtype)
    arrays = {**range_arrays(layout, "train", start, start + 8), **changes}
    return admit(arrays, layout=layout, split="train", start=start, stop=start + 8)


def _features(fill: float = 1.0) -> np.ndarray:
    return np.full((8, 3, 5), fill, dtype=np.float32)


def test_values_of_the_right_dtype_are_not_copied() -> None:
    cls = _features()
    assert _admit({"cls": cls})["cls"] is cls


def test_float16_is_the_nearest_value_up_to_the_edge() -> None:
    # 65519 is the largest number that rounds to the largest float16, 65504.
    edge = _features(65519.0)
    assert (
        _admit({"cls": edge}, storage_dtype="float16")["cls"].tolist() == np.full((8, 3, 5), 65504.0).tolist()
    )


@pytest.mark.parametrize("value", [65520.0, -1e30])
def test_float16_overflow_names_array_layer_rows_and_the_way_out(value: float) -> None:
    cls = _features()
    cls[2, 1, 4] = value
    cls[7, 1, 0] = value
    cls[7, 2, 0] = value
    with pytest.raises(
        NumericalFailure,
        match=r"'cls' of split 'train' does not fit float16 \(largest 65504\) in layer 1, rows 10, 15: .*storage=float32",
    ):
        _admit({"cls": cls}, storage_dtype="float16")
    assert _admit({"cls": cls})["cls"][2, 1, 4] == np.float32(value)


def test_float64_overflow_of_float32_is_refused_too() -> None:
    normed = np.full((8, 5), 1.0)
    normed[3, 0] = 1e39
    with pytest.raises(NumericalFailure, match=r"'mean_normed' .* does not fit float32 .* in row 11"):
        _admit({"mean_normed": normed})


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_non_finite_features_are_refused_with_layer_and_first_rows(value: float) -> None:
    mean = _features()
    mean[1:, 2, 3] = value
    with pytest.raises(
        NumericalFailure,
        match="holds NaN or infinity in layer 2, rows 9, 10, 11, 12, 13 and 2 more: nothing was stored",
    ):
        _admit({"mean": mean})


def test_names_may_be_texts_or_bytes() -> None:
    texts = [f"n{number}" for number in range(8)]
    from_texts = _admit({"sample_id": texts})["sample_id"]
    np.testing.assert_array_equal(_admit({"sample_id": np.array(texts)})["sample_id"], from_texts)
    np.testing.assert_array_equal(_admit({"sample_id": from_texts})["sample_id"], from_texts)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        (
            {"cls": np.zeros((8, 5, 3), np.float32)},
            r"'cls' has shape \(8, 5, 3\), expected \(8, 3, 5\) \(n, L, D\) for rows 8:16",
        ),
        ({"cls": np.zeros((7, 3, 5), np.float32)}, r"'cls' has shape \(7, 3, 5\)"),
        ({"cls": np.zeros((8, 3, 5), np.int64)}, "'cls' has dtype int64, expected floating point"),
        ({"label": np.zeros(8, np.float32)}, "'label' has dtype float32, which does not fit int64"),
        ({"label": np.zeros(8, np.uint64)}, "'label' has dtype uint64, which does not fit int64"),
        ({"label": np.zeros(8, np.bool_)}, "'label' has dtype bool"),
        ({"label": ["0"] * 8}, "'label' must be a NumPy array, got list"),
        ({"sample_id": ["x"] * 7}, r"'sample_id' has shape \(7, 24\), expected \(8, 24\)"),
        ({"sample_id": ["x" * 25] * 8}, "needs 25 bytes but sample_id_width is 24"),
        ({"extra": np.zeros(8)}, "arrays must be exactly cls, .*unknown: extra"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        _admit(changes)


def test_a_missing_array_is_named() -> None:
    layout = _layout()
    arrays = range_arrays(layout, "train", 0, 8)
    del arrays["group"]
    with pytest.raises(InvalidInput, match="missing: group, unknown: none"):
        admit(arrays, layout=layout, split="train", start=0, stop=8)


def test_nothing_given_is_changed() -> None:
    layout = _layout("float16")
    arrays = range_arrays(layout, "train", 0, 8)
    before = {name: np.array(value) for name, value in arrays.items()}
    admit(arrays, layout=layout, split="train", start=0, stop=8)
    for name, value in arrays.items():
        np.testing.assert_array_equal(np.array(value), before[name])
