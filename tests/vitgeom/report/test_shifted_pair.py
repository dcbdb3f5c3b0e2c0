from __future__ import annotations

from typing import Any

import pytest

from tests.support.shifted_results import CLEAN, DAMAGE, planted_shift, shifted_pair
from vitgeom.errors import InvalidInput
from vitgeom.report.shifted_pair import parse_shifted_pair, title_of


def test_methods_stand_in_the_order_of_the_tables() -> None:
    pair = shifted_pair(groups=True)
    order = ["last_layer", "stacking", "vfusion"]
    assert [score.name for score in pair.mean] == order
    assert all([score.name for score in one.scores] == order for one in pair.conditions)
    for found in (pair.adapted_mean, pair.adapted_clean, *(one.adapted for one in pair.conditions)):
        assert found is not None
        assert [score.name for score in found.scores] == order
    assert pair.subpopulations is not None
    assert [one.name for one in pair.subpopulations.methods] == order


def test_conditions_are_found_by_corruption_and_severity() -> None:
    pair = shifted_pair(groups=True)
    assert pair.corruptions == ("contrast", "gaussian_noise")
    assert pair.severities == (1, 5)
    assert [(one.corruption, one.severity) for one in pair.conditions] == list(DAMAGE)
    found = pair.condition("contrast", 5)
    assert found is not None
    assert found.score("vfusion") is not None
    assert found.score("hfusion") is None
    assert pair.condition("contrast", 3) is None
    assert pair.mean_score("fog") is None


def test_without_damage_there_is_no_mean_and_without_groups_none_of_them() -> None:
    pair = shifted_pair(damage=(), groups=True)
    assert (pair.mean, pair.conditions, pair.adapted_mean) == ((), (), None)
    assert shifted_pair().subpopulations is None
    assert set(shifted_pair().clean) == set(CLEAN)


def test_a_method_that_is_not_known_here_keeps_its_name() -> None:
    assert (title_of("vfusion"), title_of("mine")) == ("VFusion", "mine")


def test_a_clean_test_split_that_was_not_asked_has_no_batch_statistics() -> None:
    content = planted_shift()
    content["clean"]["batch_statistics"] = None
    pair = parse_shifted_pair(dataset="digits", backbone="nano", content=content)
    assert pair.adapted_clean is None
    assert pair.adapted_mean is not None
    assert pair.adapted_mean.score("vfusion") is not None
    assert pair.adapted_mean.score("fog") is None


def test_figures_of_a_version_without_batch_statistics_are_refused_with_the_way_out() -> None:
    content = planted_shift()
    del content["mean"]["batch_statistics"]
    with pytest.raises(InvalidInput, match=r"another version.*Run the stage shift again"):
        parse_shifted_pair(dataset="digits", backbone="nano", content=content)


@pytest.mark.parametrize("missing", ["clean", "conditions", "mean"])
def test_a_missing_part_is_named(missing: str) -> None:
    content = planted_shift()
    del content[missing]
    with pytest.raises(InvalidInput, match=rf"digits × nano under shift lack .*'{missing}'.*stage shift"):
        parse_shifted_pair(dataset="digits", backbone="nano", content=content)


def test_a_figure_that_is_not_finite_is_refused() -> None:
    content: dict[str, Any] = planted_shift()
    content["mean"]["rows"][0]["accuracy"]["value"] = float("nan")
    with pytest.raises(InvalidInput, match="figures of vfusion on digits × nano under shift must be finite"):
        parse_shifted_pair(dataset="digits", backbone="nano", content=content)
