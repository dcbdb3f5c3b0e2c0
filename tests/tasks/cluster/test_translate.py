"""Ray's errors in our own words."""

from __future__ import annotations

import pytest

pytest.importorskip("ray")
from ray import exceptions

from tasks.cluster.translate import translate
from tasks.failure import Verdict, WorkerDied, WorkerOutOfMemory, judge
from vitgeom.errors import InvalidInput, ResourceShortage


def task_error(cause: Exception) -> exceptions.RayTaskError:
    return exceptions.RayTaskError(function_name="run_unit", traceback_str="Traceback: line 7", cause=cause)


def test_what_the_unit_raised_comes_back_as_itself_with_its_traceback() -> None:
    cause = InvalidInput("number must be even.")
    for wrapped in (task_error(cause), task_error(cause).as_instanceof_cause()):
        assert translate(wrapped, logs="/logs") is cause
    assert str(cause) == "number must be even."
    assert any(note.startswith("In the worker:") for note in cause.__notes__)


@pytest.mark.parametrize(
    "error",
    [
        exceptions.WorkerCrashedError(),
        exceptions.LocalRayletDiedError(),
        exceptions.NodeDiedError("node is gone"),
        exceptions.GetTimeoutError("too slow"),
    ],
)
def test_a_dead_worker_is_tried_again(error: Exception) -> None:
    translated = translate(error, logs="/logs")
    assert isinstance(translated, WorkerDied)
    assert "/logs" in str(translated)
    assert judge(translated) is Verdict.RETRY


def test_out_of_memory_is_tried_with_less() -> None:
    translated = translate(exceptions.OutOfMemoryError("used 15 of 16 GB"), logs="/logs")
    assert isinstance(translated, WorkerOutOfMemory)
    assert "used 15 of 16 GB" in str(translated)
    assert judge(translated) is Verdict.SHRINK


def test_an_unschedulable_unit_is_a_shortage() -> None:
    assert isinstance(translate(exceptions.TaskUnschedulableError("no node"), logs="/logs"), ResourceShortage)


def test_anything_else_is_left_alone() -> None:
    error = ValueError("odd")
    assert translate(error, logs="/logs") is error
