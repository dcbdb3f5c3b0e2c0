"""A small study that has been run once, for all tests that look at what a study leaves."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flows.params_text import RANDOM_VIT, write_small
from tests.support.counting_engine import CountingEngine

TWO_BACKBONES = (
    "[{name: vit_tiny_patch16_224, options: {pretrained: false, image_size: 32}},"
    " {name: vit_tiny_patch16_224, options: {pretrained: false, image_size: 48}}]"
)


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


@pytest.fixture(scope="session")
def extracted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the features of one dataset under two backbones; tests take a copy."""
    from flows.extract import extract
    from flows.study import Study

    folder = tmp_path_factory.mktemp("extracted")
    write_small(folder, backbones=TWO_BACKBONES)
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        patch.delenv("VITGEOM_STORE", raising=False)
        extract.fn(Study())
    return folder


@pytest.fixture
def two_cells(extracted: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of such a folder, and the current one."""
    shutil.copytree(extracted, tmp_path / "study")
    monkeypatch.chdir(tmp_path / "study")
    monkeypatch.delenv("VITGEOM_STORE", raising=False)
    return tmp_path / "study"


@pytest.fixture
def counting_engine() -> Iterator[CountingEngine]:
    """The engine of every flow that a test runs."""
    from flows import engine_scope

    counting = CountingEngine()
    token = engine_scope._open.set(counting)
    yield counting
    engine_scope._open.reset(token)
