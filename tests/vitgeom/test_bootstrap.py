from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
import torch

from vitgeom.bootstrap import (
    Interval,
    bootstrap_interval,
    bootstrap_intervals,
    percentile_interval,
    resample_counts,
)
from vitgeom.errors import InvalidInput
from vitgeom.seeding import generator_for
from vitgeom.significance import paired_difference


def test_counts_are_multinomial():
    counts = torch.cat(list(resample_counts(8, num_resamples=20_000, generator=generator_for(0, "counts"))))
    assert counts.shape == (20_000, 8)
    assert (counts.sum(dim=1) == 8).all()
    # Binomial(8, 1/8): mean 1, variance 7/8; means within 5 standard errors.
    assert ((counts.mean(dim=0) - 1).abs() < 5 * (7 / 8 / 20_000) ** 0.5).all()
    torch.testing.assert_close(
        counts.var(dim=0), torch.full((8,), 7 / 8, dtype=torch.float64), rtol=0.06, atol=0
    )
    # Drawn without a trace of each other: covariance -1/8.
    assert float(torch.cov(counts.T)[0, 1]) == pytest.approx(-1 / 8, abs=5 / 20_000**0.5)


def test_chunks_do_not_change_the_resamples(monkeypatch):
    whole = torch.cat(list(resample_counts(50, num_resamples=30, generator=generator_for(1))))
    monkeypatch.setattr("vitgeom.bootstrap._CHUNK_ELEMENTS", 350)
    parts = list(resample_counts(50, num_resamples=30, generator=generator_for(1)))
    assert [len(part) for part in parts] == [7, 7, 7, 7, 2]
    assert torch.equal(torch.cat(parts), whole)


def test_the_interval_is_the_quantile_of_resampled_means_drawn_one_by_one():
    values = torch.randn(40, generator=generator_for(2), dtype=torch.float64)
    got = bootstrap_interval(values, num_resamples=300, generator=generator_for(3))
    g, means = generator_for(3), []
    for row in torch.randint(40, (300, 40), generator=g).tolist():
        means.append(sum(float(values[i]) for i in row) / 40)
    ordered = sorted(means)

    def quantile(p):
        place = p * 299
        low = int(place)
        return ordered[low] + (place - low) * (ordered[low + 1] - ordered[low])

    assert got.value == pytest.approx(float(values.mean()))
    assert got.low == pytest.approx(quantile(0.025))
    assert got.high == pytest.approx(quantile(0.975))


def test_columns_share_their_resamples():
    values = torch.randn(30, 2, generator=generator_for(2))
    together = bootstrap_intervals(values, num_resamples=100, generator=generator_for(3))
    alone = [
        bootstrap_interval(values[:, j], num_resamples=100, generator=generator_for(3)) for j in range(2)
    ]
    for a, b in zip(together, alone, strict=True):
        assert (a.low, a.high) == pytest.approx((b.low, b.high))


def test_width_is_that_of_the_normal_approximation():
    values = torch.randn(2000, generator=generator_for(4))
    got = bootstrap_interval(values, num_resamples=4000, generator=generator_for(5))
    assert got.high - got.low == pytest.approx(2 * 1.96 * float(values.std()) / 2000**0.5, rel=0.06)


def test_95_percent_intervals_cover_in_about_95_percent_of_draws():
    covered = 0
    for draw in range(200):
        values = torch.rand(150, generator=generator_for(draw, "coverage")) < 0.3
        interval = bootstrap_interval(values, num_resamples=400, generator=generator_for(draw, "resample"))
        covered += interval.low <= 0.3 <= interval.high
    assert 180 <= covered <= 198


def test_a_constant_has_an_interval_of_width_0():
    assert bootstrap_interval(torch.ones(5), num_resamples=10, generator=generator_for(0)) == Interval(
        1.0, 1.0, 1.0
    )


def test_undefined_resamples_are_left_out_and_an_undefined_value_is_none():
    nan = float("nan")
    resampled = torch.tensor([0.0, nan, 1.0, 2.0, nan], dtype=torch.float64)
    got = percentile_interval(1.0, resampled, level=0.5)
    assert got is not None
    assert (got.low, got.high) == (0.5, 1.5)
    assert percentile_interval(nan, resampled, level=0.5) is None
    assert percentile_interval(1.0, torch.full((3,), nan), level=0.5) is None


def test_interval_survives_json():
    interval = Interval(0.1, 0.0, 1 / 3)
    assert Interval.from_json(json.loads(json.dumps(interval.to_json()))) == interval


@pytest.mark.parametrize(
    ("values", "settings", "words"),
    [
        (torch.ones(0), {}, "values must hold at least 1 sample"),
        (torch.tensor([1.0, np.nan]), {}, "values must be finite"),
        (torch.ones(2, 2), {}, r"values must have shape \[n\], got \[2, 2\]; use bootstrap_intervals"),
        (
            torch.ones(3),
            {"num_resamples": 0},
            "num_resamples must be a whole number >= 1, got 0; 1000 is usual",
        ),
        (torch.ones(3), {"level": 1.0}, "level must lie strictly between 0 and 1, got 1.0"),
    ],
)
def test_what_has_no_interval_is_refused(values, settings, words):
    with pytest.raises(InvalidInput, match=words):
        bootstrap_interval(values, **{"num_resamples": 10, "generator": generator_for(0), **settings})


@pytest.mark.parametrize("given", [1.5, True, "100", None])
@pytest.mark.parametrize("function", [bootstrap_interval, bootstrap_intervals, paired_difference])
def test_a_number_of_resamples_of_another_kind_is_refused(function, given):
    values = torch.ones(3, 1) if function is bootstrap_intervals else torch.ones(3) > 0
    pair = (values, values) if function is paired_difference else (values,)
    with pytest.raises(InvalidInput, match=f"num_resamples must be a whole number >= 1, got {given!r}"):
        inspect.unwrap(function)(*pair, num_resamples=given, generator=generator_for(0))
