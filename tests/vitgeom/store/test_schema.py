from __future__ import annotations

import numpy as np
import pytest

from tests.support.feature_stores import WITH_TOKENS, make_store
from vitgeom.errors import UnknownName
from vitgeom.store.schema import (
    ALL_TOKENS,
    DIMS,
    FEATURES,
    STORAGE_DTYPES,
    TOKENS,
    feature_spec,
    schema_table,
    specs_for,
)
from vitgeom.store.uri import Root


def test_every_record_is_complete_and_uses_known_letters() -> None:
    for name, spec in FEATURES.items():
        assert name == spec.name
        assert spec.dims[0] == "n"
        assert set(spec.dims) <= set(DIMS)
        assert spec.meaning.endswith(".")
        assert all((spec.unit, spec.source))
        assert spec.is_float is (spec.token is not None)
        assert spec.token in (None, ALL_TOKENS, *TOKENS)
        assert spec.has_layers is (spec.dims[1:2] in (("L",), ("L_sel",)))


def test_what_is_on_disk_is_what_is_registered(memory_root: Root) -> None:
    store = make_store(memory_root, **WITH_TOKENS)
    for spec in FEATURES.values():
        array = store.array("train", spec)
        assert array.metadata.dimension_names == spec.dims
        assert array.dtype == spec.numpy_dtype("float32")
        assert array.attrs.asdict() == {"unit": spec.unit, "meaning": spec.meaning, "source": spec.source}


@pytest.mark.parametrize("storage", STORAGE_DTYPES)
def test_features_take_the_storage_dtype_and_labels_do_not(storage: str) -> None:
    assert feature_spec("cls").numpy_dtype(storage) == np.dtype(storage)
    assert feature_spec("label").numpy_dtype(storage) == np.int64


def test_a_token_brings_its_arrays() -> None:
    assert [spec.name for spec in specs_for(["mean"])] == [
        "mean",
        "mean_normed",
        "label",
        "group",
        "sample_id",
    ]
    assert [spec.name for spec in specs_for(TOKENS)] == [name for name in FEATURES if name != "tokens"]
    assert [spec.name for spec in specs_for(TOKENS, all_tokens=True)] == list(FEATURES)


def test_unknown_names_suggest_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown feature array 'labels'\. Did you mean 'label'"):
        feature_spec("labels")
    with pytest.raises(UnknownName, match=r"unknown token 'clss'\. Did you mean 'cls'"):
        specs_for(["clss"])


def test_the_table_has_one_row_per_array_and_every_cell() -> None:
    head, rule, *rows = schema_table().split("\n\n")[0].splitlines()
    assert head.count("|") == rule.count("|") == 7
    assert len(rows) == len(FEATURES)
    for row, spec in zip(rows, FEATURES.values(), strict=True):
        cells = [cell.strip() for cell in row.strip("|").split("|")]
        assert cells[0] == f"`{spec.name}`"
        assert cells[1] == f"`[{', '.join(spec.dims)}]`"
        assert cells[3:5] == [spec.unit, spec.meaning]
    assert schema_table().endswith(".")
