from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from vitgeom.probes.memory import bytes_per_layer, bytes_per_problem, chunk_rows, problems_at_once

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
