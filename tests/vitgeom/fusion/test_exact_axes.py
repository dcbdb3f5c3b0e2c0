from __future__ import annotations

import pytest
import torch

from tests.support.layered_features import layered_features
from vitgeom.fusion.exact_axes import exact_axes
from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.probes import TensorLayers
from vitgeom.probes.standardise import fit_standardiser


def scaled(rows: int, *, layers: int = 3, width: int = 6) -> ScaledRows:
    x, _ = layered_features(rows, layers, width, 3)
    scalers = [fit_standardiser(x[:, layer]) for layer in range(layers)]
    scale = torch.tensor([1.0, 0.5, 2.0], dtype=torch.float64)[:layers]
    return ScaledRows(TensorLayers(x), tuple(range(layers)), scalers, scale)


@pytest.mark.parametrize("rows", [7, 17, 18, 60])
def test_all_variance_is_kept_on_both_sides_of_the_square(rows):
    v = scaled(rows)
    axes = exact_axes(v)
    whole = v.rows(0, rows).double()
    spectrum = torch.linalg.svdvals(whole).square() / rows
    rank = len(axes.variances)
    torch.testing.assert_close(axes.variances, spectrum[:rank], rtol=1e-5, atol=1e-9)
    assert float(spectrum[rank:].sum()) < 1e-6 * float(spectrum.sum())
    gram = axes.directions.T @ axes.directions
    torch.testing.assert_close(gram, torch.eye(rank), atol=1e-4, rtol=0)
    coordinates = axes.project(v)
    torch.testing.assert_close((coordinates @ coordinates.T).double(), whole @ whole.T, atol=1e-3, rtol=1e-4)


def test_constant_columns_have_no_axis():
    x = torch.zeros(10, 1, 4)
    x[:, 0, 2] = torch.arange(10.0)
    v = ScaledRows(TensorLayers(x), (0,), [fit_standardiser(x[:, 0])], torch.ones(1, dtype=torch.float64))
    axes = exact_axes(v)
    assert axes.directions.shape == (4, 1)
    assert float(axes.variances[0]) == pytest.approx(1, rel=1e-6)
    flat = torch.zeros(10, 1, 4)
    empty = ScaledRows(
        TensorLayers(flat), (0,), [fit_standardiser(flat[:, 0])], torch.ones(1, dtype=torch.float64)
    )
    assert exact_axes(empty).directions.shape == (4, 0)
