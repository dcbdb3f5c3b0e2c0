"""Trials of a sweep on Ray Tune: one trial per CPU share, learning curves to the driver, early stops and finished trials decided there.

Tune places trials, restarts those whose worker died, and remembers the experiment in a folder of its own; which trial is stopped, and what counts as
finished, is the board's word (:mod:`tasks.sweep_board`). An interrupted experiment is restored, and what it does not cover any more is run afresh.
"""

from __future__ import annotations

import logging
import shutil
import threading
from pathlib import Path
from typing import Any

from tasks import environment
from tasks.cluster.capacity import shortage
from tasks.cluster.connect import Connection
from tasks.cluster.engine import RayEngine
from tasks.cluster.surroundings import exported
from tasks.cluster.translate import translate
from tasks.cluster.trial_order import BoardStops, BoardVerdicts, showing
from tasks.failure import with_message
from tasks.sweep_board import Board, read_trial
from tasks.task_spec import Ask
from tasks.trials import UnusableTrial, kind_of
from vitgeom.errors import ResourceShortage
from vitgeom.store.uri import Root

EXPERIMENTS = Path(".vitgeom") / "tune"
RETRIES = 2
QUIET = {
    "TUNE_DISABLE_AUTO_CALLBACK_LOGGERS": "1",
    "RAY_AIR_NEW_OUTPUT": "0",
    "RAY_CHDIR_TO_TRIAL_DIR": "0",
    # Finished trials are in the ledger; Tune's own notes are only a hint where to go on.
    "TUNE_WARN_EXCESSIVE_EXPERIMENT_CHECKPOINT_SYNC_THRESHOLD_S": "0",
}

_log = logging.getLogger(__name__)


class TuneTrials:
    """Runs the missing trials of a board on the Ray of an engine."""

    def __init__(self, engine: RayEngine, *, experiments: Path = EXPERIMENTS) -> None:
        """Start nothing yet.

        Args:
            engine: Its connection is used, by its thread.
            experiments: Folder on this machine for Tune's own notes, one experiment per sweep.
        """
        self._engine, self._experiments = engine, experiments

    def __call__(self, request: Any, board: Board) -> None:
        """Run what is missing; see ``tasks.trials.RunTrials``."""
        name = Path(request.path).name
        folder = self._experiments.absolute() / name

        def work(connection: Connection, stop: threading.Event) -> None:
            board.stop = stop
            _require_room(connection, request)
            with showing(name, board), exported(QUIET):
                _tune(request, board, folder, logs=connection.logs)

        self._engine.conduct(work)
        if not board.missing():
            shutil.rmtree(folder, ignore_errors=True)


def trial(config: dict[str, Any]) -> None:
    """What a worker does: one trial, each epoch reported; a trial that is in the ledger already is over at once.

    Args:
        config: The request as JSON, of which task, and which trial.
    """
    environment.apply()
    from ray import tune

    kind = kind_of(config["task"])
    request: Any = kind.request.model_validate_json(config["request"])
    index, parameters = config["index"], config["parameters"]
    ledger = Root(request.store).join(request.path, "trials")
    if read_trial(ledger, index, parameters) is not None:
        tune.report({"index": index, "event": "known"})
        return

    def tell(epoch: int, loss: float, accuracy: float) -> bool:
        # A trial that is to be stopped does not come back from here: Tune ends it.
        tune.report({"index": index, "event": "epoch", "epoch": epoch, "loss": loss, "accuracy": accuracy})
        return True

    try:
        size = kind.run(request, parameters, on_epoch=tell)
    except UnusableTrial as error:
        tune.report({"index": index, "event": "failed", "problem": str(error)})
    else:
        tune.report({"index": index, "event": "ended", "num_parameters": size})


def _require_room(connection: Connection, request: Any) -> None:
    ask = Ask(cpus=float(request.threads), gpus=0.0, memory=kind_of(request.task).memory(request))
    reason = shortage(ask, connection.nodes())
    if reason is not None:
        raise ResourceShortage(f"sweep: {reason}")


def _tune(request: Any, board: Board, folder: Path, *, logs: str) -> None:
    """Restore the experiment if there is one, then run afresh what is missing still."""
    for tuner in (_restored(request, folder), None):
        if not board.missing() or board.stop.is_set():
            return
        results = (tuner or _fresh(request, board, folder)).fit()
        if results.errors and not board.stop.is_set():
            raise _explained(results.errors[0], board, logs=logs)


def _restored(request: Any, folder: Path) -> Any | None:
    """Return the interrupted experiment, or None where there is none that can be read."""
    from ray import tune

    try:
        if not tune.Tuner.can_restore(str(folder)):
            return None
        return tune.Tuner.restore(str(folder), _trainable(request), restart_errored=True)
    except Exception as error:  # half-written notes of a killed driver raise whatever they like
        _log.info(
            "the experiment in %s cannot be restored (%s); its missing trials start afresh", folder, error
        )
        return None


def _fresh(request: Any, board: Board, folder: Path) -> Any:
    from ray import tune

    shutil.rmtree(folder, ignore_errors=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    missing = [
        {
            "index": index,
            "parameters": board.trials[index].parameters,
            "task": request.task,
            "request": request.model_dump_json(),
        }
        for index in board.missing()
    ]
    return tune.Tuner(
        _trainable(request),
        param_space={"trial": tune.grid_search(missing)},
        tune_config=tune.TuneConfig(scheduler=BoardVerdicts(folder.name), reuse_actors=True),
        run_config=tune.RunConfig(
            name=folder.name,
            storage_path=str(folder.parent),
            stop=BoardStops(folder.name),
            failure_config=tune.FailureConfig(max_failures=RETRIES),
            verbose=0,
        ),
    )


def _trainable(request: Any) -> Any:
    from ray import tune

    return tune.with_resources(
        _one, {"cpu": request.threads, "memory": kind_of(request.task).memory(request)}
    )


def _one(config: dict[str, Any]) -> None:
    trial(config["trial"])


def _explained(error: Exception, board: Board, *, logs: str) -> BaseException:
    """Return the error of a trial that failed for another reason than its parameters."""
    cause = translate(error, logs=logs)
    missing, total = len(board.missing()), len(board.trials)
    message = (
        f"sweep: {missing} of {total} trials are not finished, the first because of {str(cause) or type(cause).__name__} "
        "The others are kept; once the cause is gone, the same command computes only the rest."
    )
    return with_message(cause, message)
