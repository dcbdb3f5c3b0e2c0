"""A step is a plain function until Prefect is in charge, and then what Prefect expects."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import prefect
import pytest
from prefect.cache_policies import NO_CACHE

from flows import deployments
from flows.steps import flow, task


@task(name="add", run_name="add {left}")
def add(left: int, *, right: int) -> int:
    """Add two numbers."""
    return left + right


@flow(name="adding", run_name="some adding")
def adding(left: int) -> int:
    """Add one."""
    return add(left, right=1)


def test_without_prefect_a_step_is_its_function() -> None:
    assert adding(2) == 3
    assert adding.__doc__ == "Add one."
    assert adding.__name__ == "adding"


def test_prefect_sees_names_and_neither_caches_nor_retries() -> None:
    assert isinstance(adding.prefect, prefect.Flow)
    assert (adding.prefect.name, adding.prefect.flow_run_name) == ("adding", "some adding")
    assert isinstance(add.prefect, prefect.Task)
    assert (add.prefect.task_run_name, add.prefect.retries) == ("add {left}", 0)
    assert add.prefect.cache_policy == NO_CACHE
    assert add.prefect.persist_result is False


def test_the_deployed_flows_are_prefects_own() -> None:
    names = ["full-benchmark", "extract", "probe", "fuse", "horizontal", "shift", "report"]
    flows = [getattr(deployments, name.replace("-", "_")) for name in names]

    assert all(isinstance(one, prefect.Flow) for one in flows)
    assert [one.name for one in flows] == names


def test_the_benchmark_is_imported_without_prefect_or_the_tracker() -> None:
    code = "import sys, flows.full_benchmark; print([m for m in ('prefect', 'mlflow', 'ray') if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[2],
        capture_output=True,
        text=True,
        check=True,
    )

    assert done.stdout.strip() == "[]"


def test_an_error_passes_through_a_step_unchanged() -> None:
    @flow(name="failing", run_name="failing")
    def failing() -> None:
        raise ValueError("as it was")

    with pytest.raises(ValueError, match="as it was"):
        failing()
