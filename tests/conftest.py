"""Fixtures that several test folders share."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch

import tasks  # noqa: F401  sets the environment switches before any library reads them

torch.set_num_threads(1)


@pytest.fixture(scope="session")
def weights_dir() -> Path:
    """Folder of pretrained weights, or a skip that says how to have these tests run."""
    named = os.environ.get("VITGEOM_WEIGHTS")
    beside = Path(__file__).resolve().parents[2] / "shared" / "data"
    folder = Path(named) if named else beside
    if not (folder / "dinov2_vits14_518.fp16.safetensors").is_file():
        pytest.skip(
            "no pretrained weights: set VITGEOM_WEIGHTS to a folder with dinov2_vits14_518.fp16.safetensors"
        )
    return folder


@pytest.fixture(autouse=True)
def _own_working_directory(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every test works in a folder of its own: nothing it writes lands in the checkout."""
    if "project_directory" not in request.keywords:
        monkeypatch.chdir(tmp_path)
