from __future__ import annotations

import dataclasses
import inspect

import numpy as np
import pytest
import torch
from scipy import stats

from vitgeom.errors import InvalidInput
from vitgeom.recoverability import across_datasets, analyse
from vitgeom.recoverability.across_datasets import pearson
from vitgeom.seeding import generator_for


def report(seed, *, shared):
    """Layers whose errors coincide the more, the larger ``shared`` is."""
    g = generator_for(seed)
    labels = torch.randint(6, (400,), generator=g)
    signal = 1.3 * torch.nn.functional.one_hot(labels, 6)
    noise = shared * torch.randn(400, 6, generator=g) + (1 - shared) * torch.randn(5, 400, 6, generator=g)
    return analyse(noise + signal, labels, num_bootstrap=20, num_permutations=2, generator=g)


@pytest.fixture(scope="module")
def reports():
    return [report(seed, shared=shared) for seed, shared in enumerate((0.1, 0.3, 0.5, 0.6, 0.7, 0.9))]


def test_correlations_are_those_of_scipy(reports):
    found = across_datasets(reports, num_resamples=100, generator=generator_for(0))
    y = [part.r_any.value for part in reports]
    x = {
        "correction entropy": [part.corrections["shared"].entropy.value for part in reports],
        "geometric disagreement": [part.geometry.centred.value for part in reports],
        "prediction diversity": [part.diversity.disagreement.value for part in reports],
    }
    assert set(found) == set(x)
    for name, correlation in found.items():
        assert correlation.pearson.value == pytest.approx(stats.pearsonr(x[name], y).statistic)
        assert correlation.spearman.value == pytest.approx(stats.spearmanr(x[name], y).statistic)
        assert correlation.values == tuple(zip(x[name], y, strict=True))
        assert -1 <= correlation.pearson.low <= correlation.pearson.high <= 1
    assert [part.expected for part in found.values()] == [1, -1, 0]


def test_layers_that_err_together_recover_less(reports):
    found = across_datasets(reports, num_resamples=100, generator=generator_for(0))
    assert found["prediction diversity"].spearman.value > 0.9


def test_an_undefined_report_is_left_out(reports):
    without = dataclasses.replace(reports[0], r_any=None)
    found = across_datasets([*reports, without], num_resamples=100, generator=generator_for(0))
    assert all(len(part.values) == 6 for part in found.values())


def test_a_property_that_does_not_vary_has_no_correlation(reports):
    found = across_datasets([reports[0]] * 4, num_resamples=50, generator=generator_for(0))
    assert all(part.pearson is None and part.spearman is None for part in found.values())
    assert np.isnan(pearson(np.ones(3), np.arange(3.0)))


def test_two_datasets_are_refused(reports):
    with pytest.raises(InvalidInput, match="at least 3 datasets, got 2"):
        across_datasets(reports[:2], generator=generator_for(0))


def test_a_missing_generator_is_refused(reports):
    with pytest.raises(
        InvalidInput, match=r"generator must be a torch\.Generator, got None: results must be"
    ):
        inspect.unwrap(across_datasets)(reports, generator=None)


@pytest.mark.parametrize("given", [1.5, True, "100"])
def test_a_number_of_resamples_of_another_kind_is_refused(reports, given):
    with pytest.raises(InvalidInput, match=f"num_resamples must be a whole number >= 1, got {given!r}"):
        inspect.unwrap(across_datasets)(reports, num_resamples=given, generator=generator_for(0))
