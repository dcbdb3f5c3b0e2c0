"""A learnt metric against exact products: what a hundred quadratic forms v^T g v cost either way.

Time: both in turn, several rounds, process CPU time, one thread. Ours: the network's forward pass once, then 100 forms. Theirs: 100 products J v, built operator included. The
network is untrained: what it says does not change what it costs.
"""

from __future__ import annotations

import statistics

import torch

from tests.benchmarks.bench_capture import clock
from tests.benchmarks.direction_cases import RANK, DirectionCase, dinov2_case, nano_case
from tests.benchmarks.rows import Row, table
from vitgeom.metric import SpectralPullbackNetwork

VECTORS, ROUNDS, BAR = 100, 7, 20.0


def compared(case: DirectionCase, *, width: int, bar: float | None) -> Row:
    """Measure both on one backbone."""
    network = SpectralPullbackNetwork(width, RANK, num_prefix=case.num_prefix).eval()
    features = torch.randn(1, case.num_tokens, width, generator=torch.Generator().manual_seed(0))
    vectors = torch.randn(VECTORS, case.num_tokens, width, generator=torch.Generator().manual_seed(1))
    columns = vectors.flatten(1).mT.contiguous()

    @torch.no_grad()
    def learnt() -> None:
        network(features).quadratic(vectors[None])

    def exact() -> None:
        (case.operator().matmat(columns) ** 2).sum(dim=0)

    times: dict[str, list[float]] = {"learnt": [], "exact": []}
    for index in range(ROUNDS + 1):  # the first round warms up and is dropped
        for name, method in sorted((("learnt", learnt), ("exact", exact)), reverse=bool(index % 2)):
            times[name].append(clock(method))
    ratios = sorted(
        theirs / ours for theirs, ours in zip(times["exact"][1:], times["learnt"][1:], strict=True)
    )
    ratio = statistics.median(ratios)
    return Row(
        name=f"{VECTORS} quadratic forms of the metric of rank {RANK}, {case.name}",
        bar="reported" if bar is None else f">= {bar:.0f}x",
        peer=f"{statistics.median(times['exact'][1:]):.2g} s ({VECTORS} products J v)",
        ours=f"{statistics.median(times['learnt'][1:]):.2g} s",
        ratio=ratio,
        passed=bar is None or ratio >= bar,
        runs=len(ratios),
        note=f"CPU time, 1 thread, {ratios[0]:.3g}-{ratios[-1]:.3g}; network's forward pass and building the operator included",
    )


def measure() -> list[Row]:
    """Both backbones, as far as their weights are there."""
    torch.set_num_threads(1)
    real = dinov2_case()
    rows = [compared(nano_case(), width=96, bar=None)]
    return rows if real is None else [*rows, compared(real, width=384, bar=BAR)]


if __name__ == "__main__":
    print(table(measure()))
