"""All methods of one backbone, VFusion against stacking built from scikit-learn, and seeds as one batched model against seeds in a loop."""

from __future__ import annotations

import statistics
import time
import warnings
from collections.abc import Callable

import numpy as np
import torch
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from tests.benchmarks.rows import Row
from tests.support.layered_features import layered_features
from vitgeom.fusion import METHODS, VFusionClassifier, gather_evidence
from vitgeom.fusion.evidence import Evidence
from vitgeom.probes import L2_GRID

THREADS = 2
NUM_TRAIN, NUM_VAL, NUM_TEST, NUM_LAYERS, WIDTH, NUM_CLASSES = 3000, 1000, 2000, 12, 384, 10
SEEDS = (0, 1, 2)
PAIRS = 3
FOLDS = 5

Part = tuple[np.ndarray, np.ndarray]


def parts(
    *,
    num_layers: int = NUM_LAYERS,
    width: int = WIDTH,
    sizes: tuple[int, int, int] = (NUM_TRAIN, NUM_VAL, NUM_TEST),
) -> tuple[Part, Part, Part]:
    """Return training, validation and test rows of layers that know different things."""
    x, y = layered_features(sum(sizes), num_layers, width, NUM_CLASSES)
    edges = np.cumsum(sizes)[:-1]
    pieces = list(zip(np.split(x.numpy(), edges), np.split(y.numpy(), edges), strict=True))
    return pieces[0], pieces[1], pieces[2]


def fresh(train: Part, val: Part) -> Evidence:
    """Return evidence that nothing has been computed of yet."""
    return gather_evidence(*train, *val)


def all_methods(train: Part, val: Part, test: Part) -> float:
    """Return the seconds of every method of one backbone with all seeds, probes and folds included."""
    begin = time.perf_counter()
    evidence = fresh(train, val)
    for entry in METHODS.values():
        if entry.several_backbones:
            continue
        for fitted in entry.make(seed=0).fit_evidence_seeds(
            SEEDS if entry.stochastic else SEEDS[:1], evidence
        ):
            fitted.predict(test[0])
    return time.perf_counter() - begin


def vfusion(train: Part, val: Part, test: Part) -> tuple[float, float]:
    """Return the seconds of one VFusion from features on, and its test accuracy."""
    begin = time.perf_counter()
    predicted = VFusionClassifier().fit(*train, *val).predict(test[0])
    return time.perf_counter() - begin, float((predicted == test[1]).mean())


def sklearn_stacking(train: Part, val: Part, test: Part) -> tuple[float, float]:
    """Return the same of stacking: a strength of the grid per layer by validation, refits per fold, a strength for the logits."""
    begin = time.perf_counter()
    folds = StratifiedKFold(FOLDS, shuffle=True, random_state=0)
    stacked: list[list[np.ndarray]] = [[], [], []]
    for layer in range(train[0].shape[1]):
        scaler = StandardScaler().fit(train[0][:, layer])
        z, z_val, z_test = (scaler.transform(rows[:, layer]) for rows, _ in (train, val, test))
        best = _best(z, train[1], z_val, val[1])
        held_out = cross_val_predict(
            LogisticRegression(C=best.C), z, train[1], cv=folds, method="decision_function"
        )
        for into, logits in zip(
            stacked, (held_out, best.decision_function(z_val), best.decision_function(z_test)), strict=True
        ):
            into.append(logits)
    first, second, third = (np.concatenate(logits, axis=1) for logits in stacked)
    scaler = StandardScaler().fit(first)
    meta = _best(scaler.transform(first), train[1], scaler.transform(second), val[1])
    predicted = meta.predict(scaler.transform(third))
    return time.perf_counter() - begin, float((predicted == test[1]).mean())


def _best(z: np.ndarray, y: np.ndarray, z_val: np.ndarray, y_val: np.ndarray) -> LogisticRegression:
    """Return scikit-learn's softmax regression at the strength that validation likes best."""
    fits = [LogisticRegression(C=1 / (len(z) * strength)).fit(z, y) for strength in L2_GRID]
    return min(fits, key=lambda fit: log_loss(y_val, fit.predict_proba(z_val)))


def seeds_together_and_alone(train: Part, val: Part) -> tuple[float, float]:
    """Return the seconds of training several seeds as one batched model, and one after the other; the linear stage is shared."""
    evidence = fresh(train, val)
    VFusionClassifier(max_epochs=0).fit_evidence(evidence)
    together = _seconds(lambda: VFusionClassifier().fit_evidence_seeds(SEEDS, evidence))
    alone = sum(
        _seconds(lambda seed=seed: VFusionClassifier().fit_evidence_seeds([seed], evidence)) for seed in SEEDS
    )
    return together, alone


def _seconds(work: Callable[[], object]) -> float:
    begin = time.perf_counter()
    work()
    return time.perf_counter() - begin


def measure() -> list[Row]:
    """Return the rows of the benchmark table."""
    train, val, test = parts()
    torch.set_num_threads(THREADS)
    with threadpool_limits(THREADS), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # the peer at its own default of 100 steps
        vfusion(*parts(num_layers=2, width=8, sizes=(100, 50, 50)))  # first touch of the thread pool
        every = all_methods(train, val, test)
        pairs = [(vfusion(train, val, test), sklearn_stacking(train, val, test)) for _ in range(PAIRS)]
        batches = [seeds_together_and_alone(train, val) for _ in range(PAIRS)]
    count = sum(not entry.several_backbones for entry in METHODS.values())
    shape = f"[{NUM_TRAIN}, {NUM_LAYERS}, {WIDTH}], K = {NUM_CLASSES}"
    ours, theirs = (statistics.median(pair[side][0] for pair in pairs) for side in (0, 1))
    accuracy = [100 * pairs[0][side][1] for side in (0, 1)]
    together, alone = (statistics.median(pair[side] for pair in batches) for side in (0, 1))
    ratio, shared = (
        statistics.median(theirs / ours for (ours, _), (theirs, _) in pairs),
        statistics.median(one / other for one, other in batches),
    )
    return [
        Row(
            name=f"{count} methods on {shape}, {len(SEEDS)} seeds where there are any",
            bar="<= 120 s",
            peer="",
            ours=f"{every:.0f} s",
            ratio=every,
            passed=every <= 120,
            runs=1,
            note=f"{THREADS} threads; probes, folds and predictions of {NUM_TEST} rows included",
        ),
        Row(
            name=f"VFusion on {shape}",
            bar=">= 1x",
            peer=f"{theirs:.1f} s (stacking built from sklearn, same folds and grid, tol 1e-4)",
            ours=f"{ours:.1f} s",
            ratio=ratio,
            passed=ratio >= 1,
            runs=PAIRS,
            note=f"{THREADS} threads, in turn; test accuracy {accuracy[0]:.1f} % against {accuracy[1]:.1f} % on {NUM_TEST} synthetic rows",
        ),
        Row(
            name=f"{len(SEEDS)} seeds of VFusion's training as one batched model",
            bar="<= 1x",
            peer=f"{alone:.1f} s (one by one)",
            ours=f"{together:.1f} s",
            ratio=shared,
            passed=shared <= 1,
            runs=PAIRS,
            note=f"{THREADS} threads, in turn; the linear stage, which all seeds share, is not in it",
        ),
    ]
