"""A small study that has been run once, for all tests that look at what a study leaves."""

from __future__ import annotations

import warnings
from pathlib import Path

import pytest

from tests.flows.params_text import RANDOM_VIT, write_small


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which the small study has been run; tests that would change it take a copy."""
    from flows.full_benchmark import full_benchmark

    folder = tmp_path_factory.mktemp("study")
    write_small(folder, backbones=RANDOM_VIT)
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        # The tracker's import announces changes of its own dependencies.
        warnings.simplefilter("ignore")
        patch.chdir(folder)
        patch.delenv("VITGEOM_STORE", raising=False)
        patch.delenv("MLFLOW_TRACKING_URI", raising=False)
        full_benchmark.fn()
    return folder
