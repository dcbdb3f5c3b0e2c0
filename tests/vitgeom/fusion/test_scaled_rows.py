from __future__ import annotations

import torch

from tests.support.layered_features import layered_features
from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.probes import TensorLayers
from vitgeom.probes.standardise import fit_standardiser


def rows_of(x: torch.Tensor, layers: tuple[int, ...], scale: list[float]) -> ScaledRows:
    standardisers = [fit_standardiser(x[:, layer].contiguous()) for layer in layers]
    return ScaledRows(TensorLayers(x), layers, standardisers, torch.tensor(scale, dtype=torch.float64))


def test_blocks_side_by_side_are_standardised_and_scaled():
    x, _ = layered_features(20, 3, 4, 2)
    rows = rows_of(x, (0, 2), [2.0, 0.5])

    v = rows.rows(5, 9)

    wide = x.double()
    wanted = (wide - wide.mean(dim=0)) / wide.std(dim=0, correction=0)
    torch.testing.assert_close(v, torch.cat([2.0 * wanted[5:9, 0], 0.5 * wanted[5:9, 2]], dim=1).float())
    assert rows.width == 8


def test_blocks_come_in_order_and_cover_all_rows(monkeypatch):
    x, _ = layered_features(50, 2, 4, 2)
    rows = rows_of(x, (0, 1), [1.0, 1.0])
    monkeypatch.setattr("vitgeom.fusion.scaled_rows.BLOCK_BYTES", 1)

    blocks = list(rows.blocks())

    assert [(where.start, where.stop) for where, _ in blocks] == [(0, 16), (16, 32), (32, 48), (48, 50)]
    assert torch.equal(torch.cat([block for _, block in blocks]), rows.rows(0, 50))


def test_a_large_common_offset_costs_no_digits():
    x = torch.randn(30, 1, 4, dtype=torch.float64)
    shifted = rows_of(x + 1e8, (0,), [1.0])

    torch.testing.assert_close(shifted.rows(0, 30), rows_of(x, (0,), [1.0]).rows(0, 30), atol=1e-5, rtol=1e-5)


def test_other_rows_use_the_standardisation_of_training():
    x, _ = layered_features(20, 2, 4, 2)
    rows = rows_of(x, (1,), [1.0])

    assert torch.equal(rows.of(TensorLayers(x[3:6])).rows(0, 3), rows.rows(3, 6))
