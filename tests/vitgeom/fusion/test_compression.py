from __future__ import annotations

import pytest
import torch

from tests.support.layered_features import layered_features
from vitgeom.fusion.compression import principal_axes
from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.probes import TensorLayers
from vitgeom.probes.standardise import fit_standardiser
from vitgeom.seeding import generator_for


def scaled_rows(num_rows: int = 60, num_layers: int = 3, width: int = 8) -> ScaledRows:
    x, _ = layered_features(num_rows, num_layers, width, 3)
    standardisers = [fit_standardiser(x[:, layer].contiguous()) for layer in range(num_layers)]
    scale = torch.tensor([0.5, 1.0, 2.0], dtype=torch.float64)[:num_layers]
    return ScaledRows(TensorLayers(x), tuple(range(num_layers)), standardisers, scale)


def axes_of(rows: ScaledRows, components: int):
    return principal_axes(rows, components=components, generator=generator_for(0, "axes"))


@pytest.mark.parametrize("num_rows", [60, 10])
def test_all_axes_are_those_of_the_covariance(num_rows):
    rows = scaled_rows(num_rows)
    v = rows.rows(0, num_rows).double()
    wanted = torch.linalg.eigvalsh(v.T @ v / num_rows).flip(0)

    axes = axes_of(rows, components=24)

    rank = min(24, num_rows - 1)
    assert len(axes.variances) == rank
    torch.testing.assert_close(axes.variances, wanted[:rank], rtol=1e-4, atol=1e-5)
    assert axes.captured == pytest.approx(1.0, abs=1e-4)
    image = axes.project(rows).double()
    torch.testing.assert_close(image.T @ image / num_rows, torch.diag(axes.variances), atol=1e-4, rtol=1e-3)


def test_few_axes_are_the_leading_ones():
    rows = scaled_rows(400, 3, 40)
    v = rows.rows(0, 400).double()
    wanted = torch.linalg.eigvalsh(v.T @ v / 400).flip(0)

    axes = axes_of(rows, components=5)

    torch.testing.assert_close(axes.variances, wanted[:5], rtol=0.02, atol=0.0)
    assert axes.captured == pytest.approx(float(wanted[:5].sum() / wanted.sum()), rel=0.02)


def test_axes_are_orthonormal_and_block_size_changes_nothing(monkeypatch):
    rows = scaled_rows()
    whole = axes_of(rows, components=6)
    monkeypatch.setattr("vitgeom.fusion.scaled_rows.BLOCK_BYTES", 1)  # the least number of rows per block
    blocks = axes_of(rows, components=6)

    torch.testing.assert_close(whole.directions.T @ whole.directions, torch.eye(6), atol=1e-5, rtol=0.0)
    torch.testing.assert_close(whole.variances, blocks.variances, rtol=1e-5, atol=0.0)
    torch.testing.assert_close(whole.project(rows), blocks.project(rows), atol=1e-4, rtol=1e-4)


def test_constant_features_have_no_axis():
    rows = ScaledRows(
        TensorLayers(torch.ones(9, 1, 4)),
        (0,),
        [fit_standardiser(torch.ones(9, 4))],
        torch.ones(1, dtype=torch.float64),
    )

    assert axes_of(rows, components=3).project(rows).shape == (9, 0)
