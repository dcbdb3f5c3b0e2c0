from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion import staged_rows
from vitgeom.fusion.layer_moments import layer_moments
from vitgeom.probes import FunctionLayers
from vitgeom.seeding import generator_for


def features(n: int = 50) -> torch.Tensor:
    return torch.randn(n, 3, 5, generator=generator_for(0, "x")) * 3 + 2


def test_moments_are_those_of_numpy() -> None:
    x = features()
    found = layer_moments(x)
    wide = x.double().numpy()
    for layer in range(3):
        np.testing.assert_allclose(found.means[layer], wide[:, layer].mean(axis=0), rtol=1e-12)
        np.testing.assert_allclose(found.deviations[layer], wide[:, layer].std(axis=0), rtol=1e-12)
    assert (found.num_rows, found.widths) == (50, (5, 5, 5))


def test_blocks_are_merged_and_never_more_than_one_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    x, asked = features(), []

    def read(layer: int, start: int, stop: int) -> torch.Tensor:
        asked.append(stop - start)
        return x[start:stop, layer]

    whole = layer_moments(x)
    monkeypatch.setattr(staged_rows, "BLOCK_BYTES", 8 * 5 * 7)
    found = layer_moments(FunctionLayers(num_layers=3, num_rows=50, read_rows=read))
    assert max(asked) == 7
    for layer in range(3):
        torch.testing.assert_close(found.means[layer], whole.means[layer], rtol=1e-12, atol=1e-12)
        torch.testing.assert_close(found.deviations[layer], whole.deviations[layer], rtol=1e-12, atol=1e-12)


def test_a_large_common_offset_costs_no_digits(monkeypatch: pytest.MonkeyPatch) -> None:
    x = features().double()
    monkeypatch.setattr(staged_rows, "BLOCK_BYTES", 8 * 5 * 7)
    torch.testing.assert_close(
        layer_moments(x + 1e8).deviations[0], layer_moments(x).deviations[0], rtol=1e-6, atol=1e-6
    )


def test_a_coordinate_that_never_changes_has_no_deviation_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    x = features()
    x[:, 1, 2] = 0.1  # no sum of these is exact
    monkeypatch.setattr(staged_rows, "BLOCK_BYTES", 8 * 5 * 7)
    found = layer_moments(x)
    assert found.deviations[1][2] == 0
    assert found.means[1][2] == x[0, 1, 2].double()
    assert (found.deviations[1] > 0).sum() == 4


def test_rows_that_are_not_finite_are_named() -> None:
    x = features()
    x[4, 1, 0] = torch.nan
    with pytest.raises(InvalidInput, match=r"train must be finite, got NaN .* at layer 1, first in row 4"):
        layer_moments(x, name="train")
