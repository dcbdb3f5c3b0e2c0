"""What decides a learnt metric, and what only says how it is trained."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from tasks.metric_request import MetricRequest
from vitgeom.errors import InvalidInput, UnknownName

BASE: dict[str, Any] = {
    "store": "memory://here",
    "address": "targets/scenes/nano/cls-layer10/0123",
    "manifest_digest": "ab" * 32,
    "learner": "spn",
    "rank": 4,
    "num_prefix": 1,
}


def request(**changes: Any) -> MetricRequest:
    return MetricRequest(**{**BASE, **changes})


@pytest.mark.parametrize(
    "change",
    [
        {"store": "memory://elsewhere"},
        {"trainer": "ray"},
        {"trainer": "ray", "workers": 2},
        {"threads": 2},
        {"keep_bytes": 0},
        {"training": {"device": "cuda"}},
        {"address": "targets/scenes/nano/cls-layer10/4567"},
    ],
)
def test_how_it_is_trained_and_where_targets_lie_changes_no_place(change: dict[str, Any]) -> None:
    assert request(**change).path == request().path


@pytest.mark.parametrize(
    "change",
    [
        {"manifest_digest": "cd" * 32},
        {"seed": 1},
        {"rank": 5},
        {"model": {"hidden": 64}},
        {"training": {"epochs": 3}},
        {"num_prefix": 0},
        {"learner": "importance"},
    ],
)
def test_what_decides_the_result_does(change: dict[str, Any]) -> None:
    assert request(**change).path != request().path


def test_the_importance_head_does_not_depend_on_the_networks_sizes() -> None:
    one, other = (
        request(learner="importance", rank=rank, model={"hidden": hidden})
        for rank, hidden in ((4, 64), (5, 8))
    )
    assert one.path == other.path
    assert one.path.startswith("metric/scenes/nano/cls-layer10/importance-")
    assert one.path != request(learner="importance", target="block_norms").path


def test_the_seed_is_that_of_the_training() -> None:
    assert request(seed=3, training={"epochs": 2}).settings.seed == 3
    with pytest.raises(ValidationError, match="training must not hold a seed"):
        request(training={"seed": 1})


def test_bad_settings_are_refused_by_name() -> None:
    with pytest.raises((ValidationError, UnknownName), match="learning_rate"):
        request(training={"learning_rat": 1e-3})
    with pytest.raises((ValidationError, InvalidInput), match="epochs"):
        request(training={"epochs": 0})
    with pytest.raises(ValidationError, match="several need trainer='ray'"):
        request(workers=2)
    with pytest.raises(ValidationError, match="rank"):
        request(rank=0)
