"""Which engine runs trials how."""

from __future__ import annotations

from tasks.cluster.engine import RayEngine
from tasks.cluster.tuning import TuneTrials
from tasks.engine import SerialEngine
from tasks.sweep_engine import trials_on
from tasks.trials import in_turn


def test_the_serial_engine_runs_trials_in_turn_and_ray_with_tune() -> None:
    assert trials_on(SerialEngine()) is in_turn
    assert isinstance(trials_on(RayEngine()), TuneTrials)
