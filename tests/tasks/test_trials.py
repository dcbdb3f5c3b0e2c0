"""Kinds of sweeps by name; what trials do in turn is tested with each kind."""

from __future__ import annotations

import pytest

from tasks import rank_trial, sweep_memory, sweep_rank, sweep_trial
from tasks.rank_sweep_request import RankSweepRequest
from tasks.sweep_request import SweepRequest
from tasks.trials import kind_of
from vitgeom.errors import UnknownName


def test_a_kind_is_found_by_the_name_of_its_task() -> None:
    kind = kind_of("sweep_fusion")
    assert kind.request is SweepRequest
    assert kind.run is sweep_trial.run_trial
    assert kind.memory is sweep_memory.memory


def test_ranks_are_a_kind_too() -> None:
    kind = kind_of("sweep_rank")
    assert kind.request is RankSweepRequest
    assert kind.run is rank_trial.run_trial
    assert kind.memory is sweep_rank.memory


def test_another_task_is_refused_with_the_nearest_sweep() -> None:
    with pytest.raises(UnknownName, match="sweep_fusion"):
        kind_of("sweep_fussion")
