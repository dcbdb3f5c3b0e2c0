from __future__ import annotations

import numpy as np
import torch

from vitgeom.fusion import staged_rows
from vitgeom.fusion.moments import column_means, covariance, variance
from vitgeom.probes.row_file import RowFile
from vitgeom.seeding import generator_for

X = 1e3 + torch.randn(40, 4, generator=generator_for(0, "moments")) * torch.tensor([0.0, 0.1, 1.0, 5.0])


def test_moments_are_those_of_numpy_s_and_do_not_depend_on_where_the_rows_are(monkeypatch):
    monkeypatch.setattr(staged_rows, "BLOCK_BYTES", 8 * 4 * 7)
    wide = X.double()
    wanted = torch.from_numpy(np.cov(wide.numpy().T, bias=True))
    with RowFile(width=4, dtype=torch.float32) as file:
        file.append(X)
        for rows in (X, file):
            torch.testing.assert_close(column_means(rows), wide.mean(dim=0))
            torch.testing.assert_close(covariance(rows), wanted, atol=1e-9, rtol=1e-9)
            torch.testing.assert_close(variance(rows), wanted.diagonal(), atol=1e-9, rtol=1e-9)


def test_a_constant_column_has_no_variance():
    assert float(variance(X)[0]) == float(covariance(X)[0, 0]) == 0.0
