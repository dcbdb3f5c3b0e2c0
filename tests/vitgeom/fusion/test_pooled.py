from __future__ import annotations

import pytest
import torch

from tests.oracles.pooled_one_by_one import pooled_means
from vitgeom.bootstrap import bootstrap_intervals
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.fusion.pooled import BEST_LAYER, ORACLE, PairOutcomes, pool
from vitgeom.seeding import generator_for

SIZES = {"digits": 40, "photos": 25}


def right(dataset: str, backbone: int, share: float) -> torch.Tensor:
    drawn = torch.rand(SIZES[dataset], generator=generator_for(backbone, f"{dataset} {share}"))
    return (drawn < share).double()


def pair(dataset: str, backbone: int) -> PairOutcomes:
    shares = {"vfusion": 0.8, "stacking": 0.7, BEST_LAYER: 0.6, ORACLE: 0.95}
    return PairOutcomes(dataset, {name: right(dataset, backbone, share) for name, share in shares.items()})


PAIRS = [pair("digits", 0), pair("digits", 1), pair("photos", 0)]


def test_means_and_resamples_are_those_taken_one_by_one() -> None:
    found = pool(PAIRS, seed=3, num_resamples=20)
    draws = {
        dataset: torch.randint(size, (20, size), generator=generator_for(3, f"pooled {dataset}"))
        for dataset, size in SIZES.items()
    }
    columns = [(one.dataset, torch.stack(list(one.right.values()), dim=1)) for one in PAIRS]
    means, resampled = pooled_means(columns, draws)
    assert found.means.tolist() == pytest.approx(means)
    for row, wanted in zip(found.resampled.tolist(), resampled, strict=True):
        assert row == pytest.approx(wanted)
    assert (found.num_pairs, found.num_samples) == (3, 65)


def test_differences_are_paired() -> None:
    found = pool(PAIRS, seed=0, num_resamples=500)
    gain = found.difference("vfusion", "stacking")
    assert gain.value == pytest.approx(found.accuracy("vfusion").value - found.accuracy("stacking").value)
    back = found.difference("stacking", "vfusion")
    assert (back.low, back.high) == pytest.approx((-gain.high, -gain.low))
    same = found.difference("vfusion", "vfusion")
    assert (same.low, same.value, same.high) == (0, 0, 0)


def test_one_pair_has_about_the_interval_of_its_own_bootstrap() -> None:
    found = pool(PAIRS[:1], seed=0, num_resamples=4000).accuracy("vfusion")
    [own] = bootstrap_intervals(
        PAIRS[0].right["vfusion"][:, None], num_resamples=4000, generator=generator_for(1, "own")
    )
    assert (found.value, found.low, found.high) == pytest.approx((own.value, own.low, own.high), abs=0.03)


def test_backbones_that_see_the_same_images_do_not_count_twice() -> None:
    once = pool(PAIRS[:1], seed=0, num_resamples=1000).accuracy("vfusion")
    twice = pool([PAIRS[0], PAIRS[0]], seed=0, num_resamples=1000).accuracy("vfusion")
    assert (once.value, once.low, once.high) == pytest.approx((twice.value, twice.low, twice.high))


def test_the_share_of_the_gap_is_that_of_the_means() -> None:
    found = pool(PAIRS, seed=0, num_resamples=300)
    closed = found.gap_closed("vfusion")
    best, oracle = found.accuracy(BEST_LAYER).value, found.accuracy(ORACLE).value
    assert closed is not None
    assert closed.value == pytest.approx((found.accuracy("vfusion").value - best) / (oracle - best))
    assert closed.low < closed.value < closed.high


def test_resamples_are_a_whole_number() -> None:
    with pytest.raises(InvalidInput, match="num_resamples"):
        pool(PAIRS, seed=0, num_resamples=0)


def test_no_gap_has_no_share() -> None:
    always = torch.ones(10, dtype=torch.float64)
    flat = PairOutcomes("digits", {"vfusion": always, BEST_LAYER: always, ORACLE: always})
    assert pool([flat], seed=0, num_resamples=10).gap_closed("vfusion") is None


def test_what_is_missing_on_a_pair_is_no_part_of_it() -> None:
    few = PairOutcomes("photos", {"vfusion": right("photos", 0, 0.8)})
    found = pool([PAIRS[0], few], seed=0, num_resamples=10)
    assert found.names == ("vfusion",)
    with pytest.raises(UnknownName, match="stacking"):
        found.accuracy("stacking")


@pytest.mark.parametrize(
    ("pairs", "words"),
    [
        ([], "at least 1 dataset"),
        ([PairOutcomes("a", {"x": torch.ones(3).double()}), PairOutcomes("b", {})], "one method in common"),
        (
            [
                PairOutcomes("a", {"x": torch.ones(3).double()}),
                PairOutcomes("a", {"x": torch.ones(4).double()}),
            ],
            r"same test samples, got \[3, 4\] samples for a",
        ),
    ],
)
def test_what_cannot_be_pooled_is_refused(pairs: list[PairOutcomes], words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        pool(pairs, seed=0, num_resamples=10)
