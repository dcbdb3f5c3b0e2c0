from __future__ import annotations

import math

import pytest
import torch
from scipy.stats import binomtest

from vitgeom.errors import InvalidInput
from vitgeom.seeding import generator_for
from vitgeom.significance import mcnemar, paired_difference


def pair(
    only_first: int, only_second: int, both: int = 3, neither: int = 2
) -> tuple[torch.Tensor, torch.Tensor]:
    cells = [(True, False)] * only_first + [(False, True)] * only_second + [(True, True)] * both
    first, second = zip(*cells, *[(False, False)] * neither, strict=True)
    return torch.tensor(first), torch.tensor(second)


@pytest.mark.parametrize(("b", "c"), [(0, 1), (1, 0), (0, 9), (3, 12), (7, 7), (40, 61), (900, 1021)])
def test_p_is_that_of_the_exact_binomial_test(b, c):
    got = mcnemar(*pair(b, c))
    assert (got.only_first, got.only_second) == (b, c)
    assert got.p == pytest.approx(binomtest(b, b + c, 0.5).pvalue, rel=1e-9)


def test_p_by_hand():
    assert mcnemar(*pair(1, 4)).p == 2 * (1 + 5) / 2**5
    assert mcnemar(*pair(4, 1)).p == mcnemar(*pair(1, 4)).p


def test_no_disagreement_and_perfect_balance_give_1():
    assert mcnemar(*pair(0, 0)).p == 1
    assert mcnemar(*pair(5, 5)).p == 1


def test_tens_of_thousands_of_disagreements_stay_exact():
    p = mcnemar(*pair(10_000, 10_200)).p
    assert p == pytest.approx(math.erfc((200 - 1) / math.sqrt(2 * 20_200)), rel=1e-3)


def test_under_equality_small_p_is_rare():
    g, below = generator_for(0, "mcnemar"), 0
    for _ in range(500):
        first, second = torch.rand(2, 200, generator=g) < 0.7
        below += mcnemar(first, second).p <= 0.05
    # The exact test is conservative: at most 5 % (25 of 500), five standard errors of slack; but not never.
    assert 2 <= below <= 25 + 5 * math.sqrt(500 * 0.05 * 0.95)


def test_difference_is_paired():
    g = generator_for(1)
    hard = torch.rand(400, generator=g) < 0.5
    first, second = hard.clone(), hard.clone()
    second[:8] = ~second[:8]
    got = paired_difference(first, second, generator=generator_for(2))
    assert got.value == pytest.approx(float(first.double().mean() - second.double().mean()))
    # Only 8 samples tell them apart: far narrower than the +-0.07 of two independent accuracies.
    assert got.high - got.low < 0.035
    assert got.low <= got.value <= got.high


def test_the_same_method_differs_by_exactly_0():
    first, _ = pair(3, 4)
    got = paired_difference(first, first, generator=generator_for(0))
    assert (got.value, got.low, got.high) == (0, 0, 0)


def test_paired_intervals_cover():
    covered, truth = 0, 0.8 * 0.5 - 0.3 * 0.5
    for draw in range(200):
        u = torch.rand(2, 200, generator=generator_for(draw, "pair"))
        first, second = u[0] < 0.4, (u[0] < 0.1) | ((u[0] > 0.9) & (u[1] < 0.5))
        interval = paired_difference(first, second, num_resamples=400, generator=generator_for(draw, "boot"))
        covered += interval.low <= truth <= interval.high
    assert 180 <= covered <= 198


def test_different_samples_are_refused():
    a, b = torch.ones(3, dtype=torch.bool), torch.ones(4, dtype=torch.bool)
    for test in (mcnemar, lambda x, y: paired_difference(x, y, generator=generator_for(0))):
        with pytest.raises(InvalidInput, match="must judge the same samples, got 3 and 4"):
            test(a, b)


def test_no_samples_have_no_difference():
    empty = torch.zeros(0, dtype=torch.bool)
    with pytest.raises(InvalidInput, match="at least 1 sample"):
        paired_difference(empty, empty, generator=generator_for(0))
