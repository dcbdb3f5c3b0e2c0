"""The three result files of one dataset × backbone, made by the code that makes them in a run, from planted logits."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

import torch

from vitgeom.recoverability import RefitControl, analyse
from vitgeom.seeding import generator_for
from vitgeom.significance import mcnemar, paired_difference

DIGEST = "cd" * 32


def planted_results(
    *,
    num_layers: int = 4,
    num_test: int = 120,
    num_classes: int = 5,
    skills: tuple[float, ...] = (0.4, 0.6, 0.8, 0.7),
    best: int = 2,
) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Return manifest, probes and recoverability of layers that are right on a ``skills`` share of the samples, independently."""
    labels = torch.randint(num_classes, (num_test,), generator=generator_for(1, "labels"))
    logits = torch.zeros(num_layers, num_test, num_classes)
    for layer, skill in enumerate(skills):
        right = torch.rand(num_test, generator=generator_for(1, "right", layer)) < skill
        said = torch.where(right, labels, (labels + 1) % num_classes)
        logits[layer, torch.arange(num_test), said] = 1.0
    report = analyse(
        logits, labels, best_layer=best, num_bootstrap=200, generator=generator_for(1, "bootstrap")
    )
    correct = logits.argmax(dim=2) == labels
    gain = paired_difference(
        correct[best], correct[-1], num_resamples=200, generator=generator_for(1, "gain")
    )
    control = (
        None
        if num_layers == 1
        else RefitControl(report.r_any, report.errors, 0.7, (0.7,) * (num_layers - 1), unconverged=1)
    )
    origin = {"features": {"address": "features/d/b/0", "manifest_digest": DIGEST}}
    manifest = {
        "digest": DIGEST,
        "address": "features/d/b/0",
        "splits": {"train": {"n": 300}, "val": {"n": 100}, "test": {"n": num_test}},
    }
    layers = [
        {
            "layer": number,
            "l2": 1e-3,
            "val_accuracy": 0.5,
            "val_loss": 1,
            "grad_norm": 5e-7,
            "converged": True,
            "iterations": 9,
        }
        for number in range(1, num_layers + 1)
    ]
    probes = {
        "meta": {"classes": list(range(num_classes)), "best_layer": best, "refit": False},
        "layers": layers,
        **origin,
    }
    recoverability = {
        "report": report.to_json(),
        "refit_control": None if control is None else control.to_json(),
        "best_minus_last": {**gain.to_json(), "mcnemar": asdict(mcnemar(correct[best], correct[-1]))},
        **origin,
    }
    return manifest, probes, recoverability
