"""The list of tasks, and its memory formulas against processes that did the work."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tasks.catalogue import CATALOGUE
from tasks.extract_features import PROCESS_BYTES
from tests.support.checkout import ROOT
from tests.tasks.test_request import FOOTPRINT, extract_request


def test_names_are_those_of_the_requests() -> None:
    assert set(CATALOGUE) >= {
        "evaluate_shift",
        "extract_features",
        "fit_fusion",
        "fit_horizontal",
        "fit_probes",
    }
    assert all(spec.name == name for name, spec in CATALOGUE.items())


def test_a_unit_takes_its_threads_and_a_gpu_only_on_cuda() -> None:
    spec = CATALOGUE["extract_features"]
    assert spec.ask(extract_request(threads=3)).cpus == 3
    assert [spec.ask(extract_request(device=device)).gpus for device in ("cpu", "cuda", "cuda:1")] == [
        0,
        1,
        1,
    ]


def test_memory_grows_with_what_it_should() -> None:
    memory = CATALOGUE["extract_features"].memory
    base = memory(extract_request())
    assert memory(extract_request(batch_size=128)) > base
    assert memory(extract_request(stop=128)) > base
    assert memory(extract_request(start=64, stop=128)) == base
    chosen = FOOTPRINT.model_copy(update={"token_layers": 2})
    # One range twice, and one batch three times.
    assert memory(extract_request(footprint=chosen)) - base == (2 * 64 + 3 * 64) * 2 * 5 * 8 * 4


@pytest.mark.parametrize("task", ["extract", "extract_tokens", "probe", "fuse", "horizontal", "shift"])
@pytest.mark.timeout(1200)
def test_the_formula_covers_a_real_unit_and_is_not_idle(task: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.support.measured_unit", task, str(tmp_path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    measured = json.loads(done.stdout.splitlines()[-1])
    growth, formula = measured["peak"] - measured["before"], measured["allowed"] - PROCESS_BYTES
    assert measured["peak"] <= measured["allowed"]
    assert measured["before"] <= PROCESS_BYTES
    assert growth <= formula
    assert formula <= 8 * growth + 512 * 2**20, f"the formula allows {formula} for a growth of {growth}"
