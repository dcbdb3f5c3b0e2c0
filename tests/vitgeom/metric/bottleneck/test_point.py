from __future__ import annotations

import torch

from vitgeom.decoders import BoundDecoder
from vitgeom.linop import JacobianOperator
from vitgeom.metric.bottleneck import PointOf


def test_any_function_at_a_point_is_a_bound_decoder():
    matrix = torch.randn(3, 6, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    point = PointOf("linear", 4, torch.ones(2, 3, dtype=torch.float64), lambda x: matrix @ x.flatten())
    assert isinstance(point, BoundDecoder)
    torch.testing.assert_close(point(point.features), matrix.sum(1))
    operator = JacobianOperator(point, point.features)
    torch.testing.assert_close(operator.matmat(torch.eye(6, dtype=torch.float64)), matrix)
