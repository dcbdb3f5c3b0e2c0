"""Peak memory of fitting all kinds of fused methods on few and on many rows that are made where they are read."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

CODE = """
import sys, torch
from vitgeom.fusion import EvidenceSettings, gather_evidence, linear_maps, scaled_rows, staged_rows
from vitgeom.fusion.all_layer_concat import AllLayerConcatClassifier
from vitgeom.fusion.logit_average import LogitAverageClassifier
from vitgeom.fusion.mixture_of_experts import MixtureOfExpertsClassifier
from vitgeom.fusion.stacking import LogisticStackingClassifier
from vitgeom.fusion.super_learner import SuperLearnerClassifier
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.probes import FunctionLayers
torch.set_num_threads(1)
for one in (linear_maps, scaled_rows, staged_rows):
    one.BLOCK_BYTES = 1 << 20
base = torch.randn(997, 48, generator=torch.Generator().manual_seed(0))
def source(rows):
    def read(layer, start, stop):
        number = torch.arange(start, stop)
        made = base[number % 997] * (1 + (number % 101) / 101)[:, None]
        made[number % 3 == 0, layer] += 1.0
        return made
    return FunctionLayers(num_layers=3, read_rows=read, num_rows=rows)
METHODS = (
    VFusionClassifier(max_epochs=1, hidden_dim=8, components=16, layer_scaling="none", batch_size=1000),
    LogitAverageClassifier(), SuperLearnerClassifier(), LogisticStackingClassifier(),
    MixtureOfExpertsClassifier(max_epochs=1, hidden_dim=8, components=8, batch_size=1000),
    AllLayerConcatClassifier(l2=(0.1,)),
)
def fit(rows, budget):
    y = (torch.arange(rows) % 3 == 0).long()
    settings = EvidenceSettings(l2=(0.1,), num_folds=2, tol=1e-3, fold_tol=1e-2, byte_budget=budget)
    with gather_evidence(source(rows), y, val_fraction=0.2, settings=settings) as evidence:
        for method in METHODS:
            method.fit_evidence(evidence)
            for block in method.log_proba_blocks(source(rows)):
                assert block.shape[1] == 2
def resident(key):
    return 1024 * int(next(line for line in open("/proc/self/status") if line.startswith(key)).split()[1])
fit(500, 1)  # libraries and thread pools
before = resident("VmHWM")
fit(int(sys.argv[1]), int(sys.argv[2]))
print(before, resident("VmHWM"))
"""


def grown(rows: int, budget: int) -> tuple[int, int]:
    """Return what fitting added to the peak of a fresh process, and that peak, in bytes."""
    done = subprocess.run(
        [sys.executable, "-c", CODE, str(rows), str(budget)],
        cwd=Path(__file__).parents[3],
        capture_output=True,
        text=True,
        check=True,
    )
    before, peak = map(int, done.stdout.split())
    return peak - before, peak


def test_the_peak_does_not_grow_with_the_rows():
    """1,000 against 30,000 rows of [3, 48]: as a whole they would take 17 MB, and the coordinates as much again."""
    (few, few_peak), (many, many_peak) = grown(1_000, 1 << 20), grown(30_000, 1 << 20)
    assert many_peak <= 1.3 * few_peak
    assert many - few <= 16 << 20  # labels, folds and blocks of 1 MiB
    in_memory, _ = grown(30_000, 1 << 30)
    assert in_memory >= 28 << 20  # the same measurement does see a fit that keeps its rows
