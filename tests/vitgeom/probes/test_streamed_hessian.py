from __future__ import annotations

import pytest
import torch

from vitgeom.probes.fold_weights import fold_weights
from vitgeom.probes.hessian import Hessian, kronecker_preconditioner
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.streamed_hessian import StreamedHessian

ROWS, RANK, PROBLEMS, CLASSES = 23, 5, 3, 4


def weights(kind):
    g = torch.Generator().manual_seed(1)
    if kind == "fold":
        table = 0.5 + torch.rand(4, PROBLEMS, generator=g, dtype=torch.float64)
        return fold_weights(torch.arange(ROWS) % 4, table=table)
    return torch.rand(ROWS, PROBLEMS if kind == "column" else 1, generator=g, dtype=torch.float64)


@pytest.fixture(params=["shared", "column", "fold"])
def both(request):
    """The same operator twice: with everything in memory, and over blocks of 7 rows of a file."""
    g = torch.Generator().manual_seed(0)
    features, coef = torch.randn(ROWS, RANK, generator=g), torch.randn(PROBLEMS, CLASSES, RANK, generator=g)
    penalty, weight = torch.rand(PROBLEMS, RANK, generator=g), weights(request.param)
    probability = torch.einsum("nq,pkq->pkn", features, coef).softmax(dim=1)
    with RowFile(width=RANK, dtype=torch.float32) as file:
        file.append(features)
        yield (
            Hessian(features, probability, (weight[:].T / ROWS).float(), penalty),
            StreamedHessian(file, coef, weight, penalty, 7),
        )


def test_products_are_those_in_memory(both):
    memory, streamed = both
    v = torch.randn(PROBLEMS, CLASSES, RANK, generator=torch.Generator().manual_seed(2))
    torch.testing.assert_close(streamed(v), memory(v), rtol=1e-5, atol=1e-6)


def test_it_is_symmetric(both):
    _, streamed = both
    u, v = torch.randn(2, PROBLEMS, CLASSES, RANK, generator=torch.Generator().manual_seed(3))
    torch.testing.assert_close((u * streamed(v)).sum(), (v * streamed(u)).sum(), rtol=1e-5, atol=1e-5)


def test_some_of_the_problems_are_kept(both):
    _, streamed = both
    v = torch.randn(PROBLEMS, CLASSES, RANK, generator=torch.Generator().manual_seed(4))
    mask = torch.tensor([True, False, True])
    torch.testing.assert_close(streamed.keep(mask)(v[mask]), streamed(v)[mask])


def test_the_preconditioner_is_that_in_memory(both):
    variances = torch.linspace(0.1, 1, RANK, dtype=torch.float64)
    v = torch.randn(PROBLEMS, CLASSES, RANK, generator=torch.Generator().manual_seed(5))
    memory, streamed = (kronecker_preconditioner(h, variances=variances)(v) for h in both)
    torch.testing.assert_close(streamed, memory, rtol=1e-4, atol=1e-5)
