from __future__ import annotations

import pytest
import torch

from tests.oracles.group_accuracy_by_counting import mean_of, per_group, worst_of
from vitgeom.errors import InvalidInput
from vitgeom.probes.group_accuracy import group_accuracy
from vitgeom.seeding import generator_for

NAMES = ("round on meadow", "round on sea", "angular on meadow", "angular on sea")


def random_case(seed: int, *, n: int = 120):
    generator = generator_for(seed, "case")
    predictions = torch.randint(3, (4, n), generator=generator)
    targets = torch.randint(3, (n,), generator=generator)
    groups = torch.randint(-1, 4, (n,), generator=generator)
    return predictions, targets, groups


def report_on(predictions, targets, groups, names=NAMES, **options):
    return group_accuracy(
        predictions, targets, groups, names=names, generator=generator_for(0, "groups"), **options
    )


@pytest.mark.parametrize("seed", range(5))
def test_values_are_those_of_counting(seed):
    predictions, targets, groups = random_case(seed)
    report = report_on(predictions, targets, groups, num_resamples=20)
    assert report.without_group == int((groups == -1).sum())
    assert report.counts == {name: int((groups == g).sum()) for g, name in enumerate(NAMES)}
    for method, found in zip(predictions, report.methods, strict=True):
        rates = per_group(method.tolist(), targets.tolist(), groups.tolist())
        assert {name: interval.value for name, interval in found.per_group.items()} == pytest.approx(
            {NAMES[g]: rate for g, rate in rates.items()}
        )
        assert found.worst.value == pytest.approx(worst_of(rates))
        assert found.per_group[found.worst_group].value == found.worst.value
        assert found.mean.value == pytest.approx(mean_of(rates))


def test_intervals_are_quantiles_of_resamples_that_keep_the_size_of_every_group():
    predictions, targets, groups = random_case(9, n=40)
    report = report_on(predictions, targets, groups, num_resamples=200)
    generator, right = generator_for(0, "groups"), predictions[1] == targets
    means = []
    for group in range(4):
        members = right[groups == group].double()
        drawn = torch.randint(len(members), (200, len(members)), generator=generator)
        means.append(members[drawn].mean(dim=1))
    resampled = torch.stack(means, dim=1)
    ends = torch.tensor([0.025, 0.975], dtype=torch.float64)
    for interval, values in (
        (report.methods[1].worst, resampled.min(dim=1).values),
        (report.methods[1].mean, resampled.mean(dim=1)),
        (report.methods[1].per_group[NAMES[2]], resampled[:, 2]),
    ):
        low, high = torch.quantile(values, ends)
        assert (interval.low, interval.high) == pytest.approx((float(low), float(high)))


def test_the_interval_of_the_mean_covers_the_truth():
    """400 data sets of known accuracies 0.9, 0.6, 0.8, 0.7; a 90 % interval over 60 samples per group."""
    truth = torch.tensor([0.9, 0.6, 0.8, 0.7]).repeat_interleave(60)
    groups = torch.arange(4).repeat_interleave(60)
    draw = generator_for(3, "truth")
    right = torch.rand(400, 240, generator=draw) < truth
    report = group_accuracy(
        right.long(),
        torch.ones(240, dtype=torch.int64),
        groups,
        names=NAMES,
        num_resamples=400,
        generator=generator_for(4),
        level=0.9,
    )
    covered = sum(item.mean.low <= 0.75 <= item.mean.high for item in report.methods)
    # Binomial(400, 0.9) has standard deviation 6; a percentile interval of 60 samples covers 1 to 2 points less.
    assert 360 - 5 * 6 - 8 <= covered <= 360 + 5 * 6


def test_a_group_without_samples_is_absent_and_left_out():
    predictions, targets, groups = random_case(1)
    groups = torch.where(groups == 2, -1, groups)
    report = report_on(predictions, targets, groups)
    assert report.absent == ("angular on meadow",)
    assert list(report.counts) == [NAMES[0], NAMES[1], NAMES[3]]
    rates = per_group(predictions[0].tolist(), targets.tolist(), groups.tolist())
    assert report.methods[0].worst.value == pytest.approx(worst_of(rates))
    assert report.methods[0].mean.value == pytest.approx(mean_of(rates))


def test_one_group_of_one_sample_is_worst_and_mean():
    one = torch.tensor([1])
    found = report_on(torch.tensor([[1]]), one, torch.tensor([3])).methods[0]
    assert found.worst == found.mean == found.per_group[NAMES[3]]
    assert (found.worst.low, found.worst.value, found.worst.high) == (1, 1, 1)


def test_a_classifier_of_the_background_is_found_out():
    """Right on the groups whose background agrees, wrong on the others: mean one half, worst nothing."""
    groups = torch.arange(4).repeat(25)
    targets, background = groups // 2, groups % 2
    found = report_on(background[None], targets, groups).methods[0]
    assert (found.mean.value, found.worst.value) == (0.5, 0)
    assert found.worst_group == "round on sea"


def test_methods_share_their_resamples():
    predictions, targets, groups = random_case(2)
    twice = report_on(predictions[[0, 0]], targets, groups)
    assert twice.methods[0] == twice.methods[1]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"names": ()}, "names is empty: the dataset has no sub-populations"),
        ({"groups": torch.full((120,), -1)}, "groups are all -1: no sample belongs to a sub-population"),
        (
            {"groups": torch.full((120,), 4)},
            r"groups span 4\.\.4, but must be -1 or an index into the 4 names",
        ),
        ({"groups": torch.full((120,), -2).index_fill(0, torch.tensor([0]), 1)}, r"groups span -2\.\.1"),
        ({"num_resamples": 0}, "num_resamples must be a whole number >= 1"),
        ({"level": 1.0}, "level must lie strictly between 0 and 1"),
    ],
)
def test_what_has_no_groups_is_refused(change, message):
    predictions, targets, groups = random_case(0)
    given = {"predictions": predictions, "targets": targets, "groups": groups, **change}
    with pytest.raises(InvalidInput, match=message):
        report_on(**given)


def test_other_samples_are_refused():
    predictions, targets, groups = random_case(0)
    with pytest.raises(InvalidInput, match="of the same samples, got 119 and 120"):
        report_on(predictions[:, :-1], targets, groups)
