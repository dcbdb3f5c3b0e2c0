"""Where the trials of a sweep run, by the engine that is open."""

from __future__ import annotations

from tasks.engine import Engine, SerialEngine
from tasks.trials import RunTrials, in_turn


def trials_on(engine: Engine) -> RunTrials:
    """Return how to run trials on an engine: one after the other on the serial one, with Ray Tune on Ray's.

    Args:
        engine: From ``open_engine``.
    """
    if isinstance(engine, SerialEngine):
        return in_turn
    # Only here, so that serial work never loads Ray.
    from tasks.cluster.engine import RayEngine
    from tasks.cluster.tuning import TuneTrials

    assert isinstance(engine, RayEngine), f"no trials on {type(engine).__name__}"
    return TuneTrials(engine)
