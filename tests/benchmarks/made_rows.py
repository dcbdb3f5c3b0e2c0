"""Few and many rows of [12, 384] that are computed where they are asked for, and the peak memory of fitting each in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch import Tensor

from tests.benchmarks.rows import Row, table

BAR = 1.3
FEW, MANY = 2_000, 200_000
NUM_LAYERS, WIDTH, NUM_CLASSES = 12, 384, 10
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


Fit = Callable[[MadeRows, MadeRows], None]
"""Fits training rows, with validation rows to choose by."""


def memory_row(module: str, *, what: str, how: str) -> Row:
    """Return the row that compares the peak memory of many rows with that of few.

    Args:
        module: Full name of the benchmark; run with a number it hands :func:`command` its fit.
        what: What is fitted.
        how: Settings that a reader needs.
    """
    (few, _), (many, seconds) = (_in_a_fresh_process(module, count) for count in (FEW, MANY))
    data = MANY * NUM_LAYERS * WIDTH * 4
    return Row(
        name=f"peak memory of fitting {what} on [n, {NUM_LAYERS}, {WIDTH}], n = {MANY:,} against {FEW:,}",
        bar=f"<= {BAR}",
        peer=f"{few / 2**20:.0f} MiB ({FEW:,})",
        ours=f"{many / 2**20:.0f} MiB ({MANY:,})",
        ratio=many / few,
        passed=many <= BAR * few,
        runs=1,
        note=f"features of {data / 2**30:.1f} GiB read by rows, K = {NUM_CLASSES}, {how}, default budget, {THREADS} threads, {seconds:.0f} s",
    )


def command(fit: Fit, measure: Callable[[], list[Row]]) -> None:
    """Run as a program: with a number of rows fit them and print peak bytes and seconds; without, print the table."""
    if len(sys.argv) == 2:
        print(*_fitted(fit, int(sys.argv[1])))
    else:
        print(table(measure()))


def _fitted(fit: Fit, count: int) -> tuple[int, float]:
    from tasks.footprint import peak_bytes

    torch.set_num_threads(THREADS)
    began = time.perf_counter()
    fit(MadeRows(count), MadeRows(NUM_VAL, first=MANY))
    return peak_bytes(), time.perf_counter() - began


def _in_a_fresh_process(module: str, count: int) -> tuple[int, float]:
    """Return the peak in bytes and the seconds of a process that does nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", module, str(count)],
        cwd=Path(__file__).parents[2],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    peak, seconds = done.stdout.split()[-2:]
    return int(peak), float(seconds)
