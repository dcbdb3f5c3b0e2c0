from __future__ import annotations

import json

import pytest
import torch

from tasks.target_figures import image_figures
from tests.support.matrices import planted, with_singular_values
from tests.support.target_stores import make_store
from vitgeom.errors import CorruptData
from vitgeom.linop import DenseOperator
from vitgeom.spectra import diagnose
from vitgeom.spectra.dataset import ImageFigures, image_of
from vitgeom.spectra.theorems import truncated_importance
from vitgeom.store.figures import read_figures, write_figures
from vitgeom.store.schema import TARGETS
from vitgeom.store.uri import Root


def figures(*, zero: bool = False) -> dict[str, object]:
    dense = with_singular_values(planted(8)["fast"], rows=10, columns=24)
    found = diagnose(
        DenseOperator(dense * (0 if zero else 1)),
        rank=3,
        num_tokens=6,
        num_prefix=1,
        generator=torch.Generator().manual_seed(0),
    )
    told = image_figures(found, {"truncated_importance": truncated_importance(found)}, sample="one", image=7)
    assert (
        ImageFigures.from_json(json.loads(json.dumps(told["aggregate"]))).figures == image_of(found).figures
    )
    return told


@pytest.mark.parametrize("zero", [False, True])
def test_they_are_json_without_the_stored_arrays(zero: bool) -> None:
    told = figures(zero=zero)
    assert json.loads(json.dumps(told, allow_nan=False)) == told
    assert not TARGETS.keys() & told.keys() - {"label"}
    assert (told["sample"], told["image"]) == ("one", 7)


def test_every_bound_is_told_and_holds() -> None:
    checks = figures()["theorems"]
    assert [(check["check"], check["theorem"]) for check in checks] == [("truncated_importance", 2)]
    assert all(check["holds"] for check in checks)


def test_what_was_written_is_read(tmp_path) -> None:
    store = make_store(Root(tmp_path))
    write_figures(store, "test", 2, [{"kappa": 0.5}])
    assert read_figures(store, "test", 2) == [{"kappa": 0.5}]


@pytest.mark.parametrize("data", [None, b"", b"[]", b"{}", b'{"images": [1], "checksum": "x"}'])
def test_what_is_missing_or_damaged_is_refused_with_the_way_out(tmp_path, data: bytes | None) -> None:
    store = make_store(Root(tmp_path))
    if data is not None:
        store.root.write_bytes("figures/test/0000000000.json", data)
    with pytest.raises(CorruptData, match="Run stage diagnose again"):
        read_figures(store, "test", 0)
