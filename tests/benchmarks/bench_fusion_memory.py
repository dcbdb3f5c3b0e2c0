"""Peak memory of fitting fused methods: does it depend on the number of rows?

2,000 and 200,000 training rows of [12, 384], 10 classes, come from a function that makes them block by block; VFusion and the methods on
logits are fitted on shared evidence in a fresh process each, two threads, at the default byte budget. Linear models on concatenated
layers are left out: their statistics are W x W, which 2,000 rows do not fill. Measured is the largest resident set of each process.
"""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path

import torch

from tests.benchmarks.bench_fitting_memory import (
    BAR,
    FEW,
    MANY,
    NUM_CLASSES,
    NUM_LAYERS,
    NUM_VAL,
    THREADS,
    WIDTH,
    MadeRows,
)
from tests.benchmarks.rows import Row, table

STRENGTHS, FOLDS, COMPONENTS, EPOCHS = (1e-2,), 2, 64, 2


def fit_made_rows(count: int) -> tuple[int, float]:
    """Fit ``count`` rows in this process; return its peak in bytes and the seconds."""
    from tasks.footprint import peak_bytes
    from vitgeom.fusion import EvidenceSettings, VFusionClassifier, gather_evidence
    from vitgeom.fusion.mixture_of_experts import MixtureOfExpertsClassifier
    from vitgeom.fusion.probability_average import ProbabilityAverageClassifier
    from vitgeom.fusion.stacking import LogisticStackingClassifier
    from vitgeom.fusion.super_learner import SuperLearnerClassifier

    torch.set_num_threads(THREADS)
    train, val = MadeRows(count), MadeRows(NUM_VAL, first=MANY)
    settings = EvidenceSettings(l2=STRENGTHS, num_folds=FOLDS, tol=1e-4, fold_tol=1e-3)
    began = time.perf_counter()
    with gather_evidence(train, train.labels(), val, val.labels(), settings=settings) as evidence:
        for method in (
            VFusionClassifier(layer_scaling="none", components=COMPONENTS, max_epochs=EPOCHS),
            MixtureOfExpertsClassifier(max_epochs=EPOCHS),
            ProbabilityAverageClassifier(),
            SuperLearnerClassifier(),
            LogisticStackingClassifier(),
        ):
            method.fit_evidence(evidence)
    return peak_bytes(), time.perf_counter() - began


def in_a_fresh_process(count: int) -> tuple[int, float]:
    """Return the peak in bytes and the seconds of a process that does nothing else."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.benchmarks.bench_fusion_memory", str(count)],
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
            name=f"peak memory of fitting VFusion and four other fused methods on [n, {NUM_LAYERS}, {WIDTH}], n = {MANY:,} against {FEW:,}",
            bar=f"<= {BAR}",
            peer=f"{few / 2**20:.0f} MiB ({FEW:,})",
            ours=f"{many / 2**20:.0f} MiB ({MANY:,})",
            ratio=many / few,
            passed=many <= BAR * few,
            runs=1,
            note=f"features of {data / 2**30:.1f} GiB read by rows, K = {NUM_CLASSES}, {len(STRENGTHS)} strength, {FOLDS} folds, {COMPONENTS} components, {EPOCHS} epochs, default budget, {THREADS} threads, {seconds:.0f} s",
        )
    ]


if __name__ == "__main__":
    if len(sys.argv) == 2:
        print(*fit_made_rows(int(sys.argv[1])))
    else:
        print(table(measure()))
