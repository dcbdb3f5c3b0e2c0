from __future__ import annotations

import pytest
import torch

from vitgeom.probes.basis import eigenbasis, rotated_features, rotated_file
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.standardise import fit_standardiser


@pytest.mark.parametrize(("rows", "width"), [(50, 7), (7, 7), (6, 20)])
def test_the_basis_is_orthonormal_spans_the_rows_and_diagonalises(rows, width):
    x = torch.randn(rows, width, generator=torch.Generator().manual_seed(0)) @ torch.randn(
        width, width, generator=torch.Generator().manual_seed(1)
    )
    standardiser = fit_standardiser(x)
    basis = eigenbasis(x, standardiser=standardiser, chunk_rows=4)
    rank, z = min(rows, width), standardiser(x)
    v = basis.directions
    assert v.shape == (width, rank)
    torch.testing.assert_close(v.T @ v, torch.eye(rank, dtype=torch.float64))
    torch.testing.assert_close(z @ v @ v.T, z)
    torch.testing.assert_close(v.T @ z.T @ z @ v / rows, torch.diag(basis.variances), rtol=1e-9, atol=1e-9)


def test_rotated_features_are_the_turned_ones_with_a_column_of_ones():
    x = torch.randn(11, 3, generator=torch.Generator().manual_seed(0))
    standardiser = fit_standardiser(x)
    basis = eigenbasis(x, standardiser=standardiser, chunk_rows=100)
    turned = rotated_features(x, standardiser=standardiser, basis=basis, chunk_rows=4)
    torch.testing.assert_close(turned[:, :-1], (standardiser(x) @ basis.directions).float())
    assert (turned[:, -1] == 1).all()


def test_repeated_columns_leave_directions_of_variance_0():
    x = torch.randn(30, 2, generator=torch.Generator().manual_seed(0)).repeat(1, 2)
    basis = eigenbasis(x, standardiser=fit_standardiser(x), chunk_rows=100)
    assert (basis.variances >= 0).all()
    assert (basis.variances[:2] < 1e-12).all()


@pytest.mark.parametrize(("rows", "width"), [(50, 7), (6, 20)])
def test_rows_in_a_file_are_turned_into_a_file(rows, width):
    x = torch.randn(rows, width, generator=torch.Generator().manual_seed(0))
    standardiser = fit_standardiser(x)
    with RowFile(width=width, dtype=x.dtype) as file:
        file.append(x)
        basis = eigenbasis(file, standardiser=standardiser, chunk_rows=4)
        torch.testing.assert_close(
            basis.variances, eigenbasis(x, standardiser=standardiser, chunk_rows=4).variances
        )
        turned = rotated_features(x, standardiser=standardiser, basis=basis, chunk_rows=100)
        with rotated_file(file, standardiser=standardiser, basis=basis, chunk_rows=4) as streamed:
            assert streamed.shape == turned.shape
            torch.testing.assert_close(streamed[:], turned)
