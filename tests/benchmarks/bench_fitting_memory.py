"""Peak memory of fitting probes: does it depend on the number of rows?

2,000 and 200,000 training rows of [12, 384], 10 classes, come from a function that makes them block by block, so that they never exist
as a whole; each is fitted in a fresh process, two threads, at the same byte budget. Measured is the largest resident set of each
process, everything included.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import torch
from torch import Tensor

from tests.benchmarks.rows import Row, table

BAR = 1.3
FEW, MANY = 2_000, 200_000
NUM_LAYERS, WIDTH, NUM_CLASSES, STRENGTHS = 12, 384, 10, (1e-2,)
NUM_VAL = 2_000
THREADS = 2
PERIOD = 4_099
"""Rows of noise that are kept; row i is row i % PERIOD scaled by a factor of its own, plus the mean of its class."""


class MadeRows:
    """Layered features that are computed where they are asked for; every row depends on its number alone."""

    def __init__(
        self, num_rows: int, *, first: int = 0, num_layers: int = NUM_LAYERS, width: int = WIDTH
    ) -> None:
        generator = torch.Generator().manual_seed(0)
        self.num_rows, self.num_layers, self._first = num_rows, num_layers, first
        self._noise = torch.randn(PERIOD, width, generator=generator)
        self._means = 0.3 * torch.randn(NUM_CLASSES, width, generator=generator)

    def labels(self) -> Tensor:
        return (torch.arange(self.num_rows) + self._first) * 7 % NUM_CLASSES

    def rows(self, layer: int, start: int, stop: int) -> Tensor:
        number = torch.arange(start, stop) + self._first
        scale = 1 + (number % 1013) / 1013
        noise = self._noise[number % PERIOD] * scale[:, None]
        return noise + (layer + 1) / self.num_layers * self._means[number * 7 % NUM_CLASSES]


def fit_made_rows(count: int) -> tuple[int, float]:
    """Fit ``count`` rows in this process; return its peak in bytes and the seconds."""
    from tasks.footprint import peak_bytes
    from vitgeom.probes import fit_probes

    torch.set_num_threads(THREADS)
    train, val = MadeRows(count), MadeRows(NUM_VAL, first=MANY)
    began = time.perf_counter()
    probes = fit_probes(train, train.labels(), X_val=val, y_val=val.labels(), l2=STRENGTHS)
    assert bool(probes.converged.all()), f"relative gradient norms {probes.grad_norm.tolist()}"
    return peak_bytes(), time.perf_counter() - began


def in_a_fresh_process(count: int) -> tuple[int, float]:
    """Return the peak in bytes and the seconds of a process that does nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bench_fitting_memory", str(count)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    peak, seconds = done.stdout.split()[-2:]
    return int(peak), float(seconds)


def measure() -> list[Row]:
    """Return the one row of this benchmark; it takes some minutes."""
    (few, _), (many, seconds) = in_a_fresh_process(FEW), in_a_fresh_process(MANY)
    data = MANY * NUM_LAYERS * WIDTH * 4
    return [
        Row(
            name=f"peak memory of fitting probes on [n, {NUM_LAYERS}, {WIDTH}], n = {MANY:,} against {FEW:,}",
            bar=f"<= {BAR}",
            peer=f"{few / 2**20:.0f} MiB ({FEW:,})",
            ours=f"{many / 2**20:.0f} MiB ({MANY:,})",
            ratio=many / few,
            passed=many <= BAR * few,
            runs=1,
            note=f"features of {data / 2**30:.1f} GiB read by rows, K = {NUM_CLASSES}, {len(STRENGTHS)} strength, default budget, {THREADS} threads, {seconds:.0f} s",
        )
    ]


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(*fit_made_rows(int(sys.argv[1])))
    else:
        print(table(measure()))
