from __future__ import annotations

import pytest
import torch

from tests.vitgeom.spectra.sketches import sketch
from vitgeom.bootstrap import Interval
from vitgeom.errors import NumericalFailure
from vitgeom.spectra.kappa_cap import kappa_caps, kappa_interval, orthonormality


def test_shares_by_hand() -> None:
    caps = kappa_caps(sketch([6.0, 3.0, 1.0]))
    assert caps is not None
    assert caps.tolist() == pytest.approx([0.6, 0.9])
    found = kappa_interval(sketch([6.0, 3.0, 1.0]))
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.9, 0.9, 0.9))


def test_the_interval_comes_from_the_norm_and_from_what_may_be_missing() -> None:
    found = kappa_interval(sketch([6.0, 3.0, 1.0], norm=Interval(10.0, 9.5, 12.0), lost=0.1))
    assert found is not None
    assert (found.value, found.low, found.high) == pytest.approx((0.9, 0.75, 9.2 / 9.5))


def test_the_interval_ends_at_one() -> None:
    found = kappa_interval(sketch([6.0, 3.0, 1.0], norm=Interval(10.0, 9.0, 12.0), lost=1.0))
    assert found is not None
    assert found.high == 1.0


def test_a_zero_jacobian_has_no_share() -> None:
    assert kappa_caps(sketch([0.0, 0.0])) is None
    assert kappa_interval(sketch([0.0, 0.0])) is None


def test_more_than_all_is_a_failure() -> None:
    with pytest.raises(NumericalFailure, match="above 1: the products"):
        kappa_caps(sketch([6.0, 3.0], norm=Interval(8.0, 8.0, 8.0)))


def test_vectors_that_are_not_orthonormal_are_a_failure() -> None:
    orthonormality(torch.eye(4)[:, :2])
    orthonormality(torch.zeros(4, 0))
    with pytest.raises(NumericalFailure, match="not orthonormal"):
        orthonormality(torch.ones(4, 2))
    with pytest.raises(NumericalFailure, match="not orthonormal"):
        orthonormality(torch.full((4, 1), torch.nan))
