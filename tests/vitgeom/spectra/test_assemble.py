from __future__ import annotations

import pytest
import torch

from tests.vitgeom.spectra.sketches import sketch
from vitgeom.bootstrap import Interval
from vitgeom.errors import NumericalFailure
from vitgeom.spectra.assemble import assemble
from vitgeom.spectra.regime import Thresholds
from vitgeom.spectra.token_layout import TokenLayout


def test_every_figure_of_a_diagonal_jacobian() -> None:
    found = assemble(sketch([6.0, 3.0, 1.0]), TokenLayout(3, 1, 1), rank=2, thresholds=Thresholds())
    assert found.energy_N.tolist() == [1.0, 1.0, 0.0]
    assert found.importance_N.tolist() == pytest.approx([6**0.5, 3**0.5, 0.0])
    assert found.block_norms_N.tolist() == pytest.approx([6**0.5, 3**0.5, 1.0])
    assert found.variation.patches == pytest.approx(1.0)
    assert found.variation_weighted.patches == pytest.approx(1.0)
    assert found.regime.name == "token_local"
    assert found.right_NDR.shape == (3, 1, 2)


def test_invariants_are_checked() -> None:
    with pytest.raises(NumericalFailure, match="not orthonormal"):
        assemble(
            sketch([6.0, 3.0], right_NR=torch.ones(2, 2)),
            TokenLayout(2, 0, 1),
            rank=2,
            thresholds=Thresholds(),
        )
    with pytest.raises(NumericalFailure, match="above 1"):
        assemble(
            sketch([6.0, 3.0], norm=Interval(8.0, 8.0, 8.0)),
            TokenLayout(2, 0, 1),
            rank=2,
            thresholds=Thresholds(),
        )
