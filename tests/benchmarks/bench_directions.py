"""Finding the directions of a decoder: the diagnosis against explicit Jacobians and other partial decompositions, and its bars on a real backbone.

Time: all methods in turn, several rounds, order reversed in every second one, process CPU time, one thread, building the operator or the Jacobian included; the ratio is the median over
rounds of the peer's time over ours. Error: of kappa_cap(20) against all singular values, root mean square over rounds. The diagnosis does more than its peers: tokens,
norm, effective ranks and intervals are part of its time.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

import torch
from torch import Tensor

from tests.benchmarks.bench_capture import clock, reset_peak, resident
from tests.benchmarks.direction_cases import (
    FILE,
    PLANTED,
    RANK,
    DirectionCase,
    dinov2_case,
    nano_case,
    planted_case,
)
from tests.benchmarks.direction_peers import Answer, missing_peers, ours, peers_of
from tests.benchmarks.rows import Row, table
from vitgeom.spectra import Diagnosis, diagnose

ROUNDS, DRAWS, BUDGET = 5, 20, 200
KAPPA_BAR, VARIATION_BAR, SIGMA_BAR, SECONDS_BAR, BYTES_BAR = 0.006, 0.01, 0.005, 30.0, 1.5e9


def compared(case: DirectionCase, *, rounds: int = ROUNDS) -> list[Row]:
    """Measure ours and every peer on one case."""
    peers = peers_of(case)
    methods = {"ours": ours, **peers}
    times: dict[str, list[float]] = {name: [] for name in methods}
    answers: dict[str, list[Answer]] = {name: [] for name in methods}
    for index in range(rounds + 1):  # the first round warms up and is dropped
        for name in sorted(methods, reverse=bool(index % 2)):
            taken = clock(lambda name=name, seed=index: answers[name].append(methods[name](case, seed)))
            times[name].append(taken)
    return [_peer_row(case, name, times, answers) for name in peers]


def _peer_row(
    case: DirectionCase, peer: str, times: dict[str, list[float]], answers: dict[str, list[Answer]]
) -> Row:
    ratios = sorted(theirs / mine for theirs, mine in zip(times[peer][1:], times["ours"][1:], strict=True))
    return Row(
        name=f"top {RANK} directions and kappa_cap({RANK}), {case.name}",
        bar="reported",
        peer=f"{_said(case, times[peer], answers[peer])} ({peer})",
        ours=_said(case, times["ours"], answers["ours"]),
        ratio=statistics.median(ratios),
        passed=True,
        runs=len(ratios),
        note=f"ratio of CPU times, {ratios[0]:.2g}-{ratios[-1]:.2g}; {missing_peers()}".removesuffix("; "),
    )


def _said(case: DirectionCase, times: list[float], answers: list[Answer]) -> str:
    error = rms(torch.tensor([answer.kappa / case.kappa - 1 for answer in answers[1:]]))
    products = statistics.median(answer.products for answer in answers[1:])
    return f"{statistics.median(times[1:]):.2g} s, {products:.0f} products, error {100 * error:.2g} %"


def rms(errors: Tensor) -> float:
    """Return the root mean square."""
    return float(errors.double().pow(2).mean().sqrt())


def accuracy_rows(case: DirectionCase, *, draws: int = DRAWS) -> list[Row]:
    """The estimate at 200 products against the exact recipe."""
    operator = case.operator()
    measured = partial(diagnose, operator, rank=RANK, num_tokens=case.num_tokens, num_prefix=case.num_prefix)
    exact = measured(recipe="exact", generator=torch.Generator().manual_seed(0))
    found = [
        measured(recipe="krylov", budget=BUDGET, generator=torch.Generator().manual_seed(seed))
        for seed in range(draws)
    ]
    figures: dict[str, tuple[float, Callable[[Diagnosis], Tensor]]] = {
        f"kappa_cap({RANK})": (KAPPA_BAR, lambda d: torch.tensor([d.kappa.value])),
        "CV of token energy, all tokens and patches (the worse)": (
            VARIATION_BAR,
            lambda d: torch.tensor([d.variation.all_tokens, d.variation.patches]),
        ),
        f"each of {RANK} singular values (the worst)": (SIGMA_BAR, lambda d: d.singular_values_R),
    }
    return [
        _accuracy_row(case, name, bar, figure(exact), torch.stack([figure(each) for each in found]))
        for name, (bar, figure) in figures.items()
    ]


def _accuracy_row(case: DirectionCase, name: str, bar: float, exact: Tensor, found: Tensor) -> Row:
    errors = (found / exact - 1).double().pow(2).mean(dim=0).sqrt()
    worst = int(errors.argmax())
    error = float(errors[worst])
    return Row(
        name=f"{name}, {case.name}",
        bar=f"<= {100 * bar:g} % RMS",
        peer=f"{float(exact[worst]):.4g} (exact, all {len(case.sigma)} rows)",
        ours=f"{float(found[:, worst].mean()):.4g} +- {float(found[:, worst].std()):.2g} (krylov, {BUDGET} products)",
        ratio=100 * error,
        passed=error <= bar,
        runs=len(found),
        note="ratio: RMS error over draws in %",
    )


def spent(recipe: str) -> str:
    """Diagnose the real decoder once and return CPU seconds, seconds and bytes; to be run in a process of its own."""
    torch.set_num_threads(1)
    case = dinov2_case()
    assert case is not None
    case.operator()  # kernels and their workspaces are loaded before the mark is reset
    reset_peak()
    before, start = resident("VmRSS"), time.perf_counter()
    worked = clock(lambda: ours(case, 0, recipe=recipe))
    return f"{worked} {time.perf_counter() - start} {resident('VmHWM') - before}"


def cost_row(recipe: str) -> Row:
    """Time and growth of memory, in a fresh interpreter whose allocator returns large blocks at once.

    CPU time of one thread: what a quiet machine with two cores needs at most, and robust on a busy one.
    """
    code = f"from tests.benchmarks.bench_directions import spent; print('@', spent({recipe!r}))"
    environment = {**os.environ, "MALLOC_MMAP_THRESHOLD_": "65536", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True, check=True
    )
    worked, waited, grown = (float(part) for part in done.stdout.rsplit("@", 1)[1].split())
    return Row(
        name=f"whole diagnosis ({recipe}), DINOv2 ViT-S/14, class token from layer 10",
        bar=f"<= {SECONDS_BAR:g} s, <= {BYTES_BAR / 1e9:g} GB more",
        peer="",
        ours=f"{worked:.1f} s, {grown / 1e9:.2f} GB",
        ratio=worked / SECONDS_BAR,
        passed=worked <= SECONDS_BAR and grown <= BYTES_BAR,
        runs=1,
        note=f"CPU time, 1 thread, operator included ({waited:.0f} s on the clock); growth of the peak resident set",
    )


def not_measured() -> Row:
    """Say why the real backbone is missing."""
    return Row(
        name="DINOv2 ViT-S/14, class token from layer 10",
        bar="reported",
        peer="",
        ours="not measured",
        ratio=0.0,
        passed=True,
        runs=0,
        note=f"VITGEOM_WEIGHTS names no folder with {FILE}",
    )


def real_rows() -> list[Row]:
    """Measure the real backbone, or say why not."""
    case = dinov2_case()
    if case is None:
        return [not_measured()]
    return [*compared(case, rounds=3), *accuracy_rows(case), cost_row("krylov"), cost_row("exact")]


def measure() -> list[Row]:
    """Return the rows of the benchmark table; about ten minutes with the real backbone."""
    torch.set_num_threads(1)
    planted = [row for name in PLANTED for row in compared(planted_case(name), rounds=3)]
    return [*planted, *compared(nano_case()), *real_rows()]


if __name__ == "__main__":
    print(table(measure()))
