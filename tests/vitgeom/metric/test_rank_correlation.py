from __future__ import annotations

import pytest
import torch
from scipy.stats import rankdata, spearmanr

from vitgeom.errors import InvalidInput
from vitgeom.metric import rank_correlation
from vitgeom.metric.rank_correlation import average_ranks
from vitgeom.seeding import generator_for


def drawn(name: str, *, ties: bool) -> torch.Tensor:
    values = torch.randn(6, 40, generator=generator_for(0, name))
    return (3 * values).round() if ties else values


@pytest.mark.parametrize("ties", [False, True])
def test_it_agrees_with_scipy(ties: bool) -> None:
    a, b = drawn("a", ties=ties), drawn("a", ties=ties) + drawn("b", ties=ties)
    found = rank_correlation(a, b)
    for image in range(6):
        assert float(found.rho[image]) == pytest.approx(spearmanr(a[image], b[image]).statistic, abs=1e-12)
        assert average_ranks(a)[image].tolist() == rankdata(a[image]).tolist()
    assert found.defined.all()
    assert found.mean == pytest.approx(float(found.rho.mean()))
    assert found.deviation == pytest.approx(float(found.rho.std()))


def test_any_rising_function_changes_nothing() -> None:
    a, b = drawn("a", ties=False), drawn("b", ties=False)
    torch.testing.assert_close(rank_correlation(a.exp(), b**3).rho, rank_correlation(a, b).rho)
    torch.testing.assert_close(rank_correlation(a, a.exp()).rho, torch.ones(6, dtype=torch.float64))
    torch.testing.assert_close(rank_correlation(a, -a).rho, -torch.ones(6, dtype=torch.float64))


def test_a_constant_side_leaves_it_undefined() -> None:
    a, b = drawn("a", ties=False)[:3], drawn("b", ties=False)[:3]
    a[1] = 2.0
    found = rank_correlation(a, b)
    assert found.defined.tolist() == [True, False, True]
    assert found.rho[1] == 0
    assert found.with_nan().isnan().tolist() == [False, True, False]
    assert found.mean == pytest.approx(float((found.rho[0] + found.rho[2]) / 2))
    nowhere = rank_correlation(a[1:2], b[1:2])
    assert (nowhere.mean, nowhere.deviation) == (None, None)
    one_token = rank_correlation(a[:, :1], b[:, :1])
    assert not one_token.defined.any()


def test_nan_has_no_rank() -> None:
    with pytest.raises(InvalidInput, match="b must hold numbers to be ranked, got NaN"):
        rank_correlation(torch.ones(1, 2), torch.tensor([[1.0, torch.nan]]))
