from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from vitgeom.probes.memory import (
    bytes_per_layer,
    bytes_per_problem,
    chunk_rows,
    fits_in_memory,
    problems_at_once,
    stream_chunk_bytes,
    streamed_problems_at_once,
)

SIZES = {"num_rows": 5000, "width": 384, "num_classes": 10}


def test_the_budget_is_kept_and_used():
    fixed = bytes_per_layer(num_rows=5000, width=384)
    for wanted in (1, 4, 9):
        budget = fixed + wanted * bytes_per_problem(**SIZES)
        assert problems_at_once(**SIZES, byte_budget=budget) == wanted
        assert problems_at_once(**SIZES, byte_budget=budget - 1) == max(1, wanted - 1)


def test_one_problem_is_always_solved():
    assert problems_at_once(num_rows=10**6, width=1536, num_classes=1000, byte_budget=1) == 1


def test_rows_are_chunked_to_a_fixed_size():
    assert chunk_rows(width=1536, columns=9000) * (1536 + 27_000) * 8 <= 1 << 26
    assert chunk_rows(width=10**9, columns=10**9) == 1


@pytest.mark.parametrize(
    ("rows", "width", "classes", "problems", "least"), [(20_000, 256, 100, 4, 0.4), (600, 1024, 50, 3, 0.1)]
)
def test_a_fit_stays_below_the_formula(rows, width, classes, problems, least):
    """Peak resident memory of a fit, over what the process held before, against the stated bytes."""
    code = f"""
import torch
def resident(key):
    return int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1])
from vitgeom.probes import fit_layer
torch.set_num_threads(1)
g = torch.Generator().manual_seed(0)
x = torch.randn({rows}, {width}, generator=g)
y = torch.arange({rows}) % {classes}
fit_layer(x[:200].clone(), y[:200], num_classes={classes}, l2=torch.ones(1, dtype=torch.float64))
open("/proc/self/clear_refs", "w").write("5")  # the peak starts again from what is resident now
before = resident("VmRSS")
fit_layer(x, y, num_classes={classes}, l2=torch.logspace(-3, 0, {problems}, dtype=torch.float64), max_iter=3)
print((resident("VmHWM") - before) * 1024)
"""
    root = Path(__file__).parents[3]
    done = subprocess.run([sys.executable, "-c", code], cwd=root, capture_output=True, text=True, check=True)
    stated = bytes_per_layer(num_rows=rows, width=width) - rows * width * 4
    stated += problems * bytes_per_problem(num_rows=rows, width=width, num_classes=classes)
    used = int(done.stdout)
    assert used <= stated
    assert used >= least * stated  # a formula far above the truth would halve the batches for nothing


def test_a_layer_is_kept_in_memory_exactly_while_one_problem_fits():
    needed = bytes_per_layer(num_rows=5000, width=384) + bytes_per_problem(**SIZES)
    assert fits_in_memory(**SIZES, byte_budget=needed)
    assert not fits_in_memory(**SIZES, byte_budget=needed - 1)


def test_blocks_of_a_streamed_layer_stay_within_bounds():
    assert [stream_chunk_bytes(budget) for budget in (1, 1 << 24, 1 << 40)] == [1 << 20, 1 << 21, 1 << 24]


def test_streamed_problems_do_not_depend_on_the_rows_but_for_labels_and_weights():
    counts = [
        streamed_problems_at_once(num_rows=rows, width=384, num_classes=10, byte_budget=1 << 28)
        for rows in (2_000, 200_000)
    ]
    assert counts[0] >= counts[1] >= 0.9 * counts[0]
    assert streamed_problems_at_once(num_rows=10**8, width=384, num_classes=10, byte_budget=1) == 1


def test_the_peak_of_a_streamed_fit_does_not_grow_with_the_rows():
    """2,000 against 60,000 rows of [3, 64], made where they are read: as a whole they would take 46 MB, one layer 15."""
    code = """
import sys, torch
from vitgeom.probes import FunctionLayers, fit_probes
torch.set_num_threads(1)
base = torch.randn(997, 64, generator=torch.Generator().manual_seed(0))
def source(rows):
    def read(layer, start, stop):
        number = torch.arange(start, stop)
        made = base[number % 997] * (1 + (number % 101) / 101)[:, None]
        made[number % 3 == 0, layer] += 1.0
        return made
    return FunctionLayers(num_layers=3, read_rows=read, num_rows=rows)
def fit(rows, budget):
    y = (torch.arange(rows) % 3 == 0).long()
    done = fit_probes(source(rows), y, X_val=source(500), y_val=y[:500], l2=(0.1,), tol=1e-3, byte_budget=budget)
    assert done.converged.all()
def resident(key):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1])
fit(500, 1)  # libraries and thread pools
before = resident("VmHWM")
fit(int(sys.argv[1]), int(sys.argv[2]))
print(before, resident("VmHWM"))
"""

    def grown(rows: int, budget: int) -> tuple[int, float]:
        done = subprocess.run(
            [sys.executable, "-c", code, str(rows), str(budget)],
            cwd=Path(__file__).parents[3],
            # Freed blocks go back to the system at once: how they happen to lie in the heap varies by 15 MB from run to run.
            env={**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536"},
            capture_output=True,
            text=True,
            check=True,
        )
        before, peak = map(int, done.stdout.split())
        return peak - before, peak

    (few, few_peak), (many, many_peak) = grown(2_000, 1 << 20), grown(60_000, 1 << 20)
    assert many_peak <= 1.3 * few_peak
    # Beyond labels, weights and some blocks of 1 MiB: far from the 15 MB of one layer and the 16 MB of its turned copy.
    assert many - few <= 6 << 20
    in_memory, _ = grown(60_000, 1 << 30)
    assert in_memory >= 24 << 20  # the same measurement does see a fit that keeps its layer
