"""Figures under shift for the tests of the report: planted right and wrong answers, scored by the code that does it in a run."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch

from vitgeom.fusion.adapted_scores import adapted_scores
from vitgeom.fusion.under_shift import shift_scores
from vitgeom.report.shifted_pair import ShiftedPair, parse_shifted_pair
from vitgeom.seeding import generator_for

# Not in the order of the tables, which the report must restore.
CLEAN = {"vfusion": 0.9, "stacking": 0.85, "last_layer": 0.6}
NUM_TEST = 400
DAMAGE = (("contrast", 1), ("contrast", 5), ("gaussian_noise", 1), ("gaussian_noise", 5))
LOST = {("contrast", 1): 0.05, ("contrast", 5): 0.1, ("gaussian_noise", 1): 0.02, ("gaussian_noise", 5): 0.25}
GROUPS = {"round on sea": 100, "angular on sea": 300}


def _scores(skills: dict[str, float]) -> list[dict[str, Any]]:
    draws = torch.rand(NUM_TEST, generator=generator_for(3, "draws"))
    right = {name: (draws < skill).double() for name, skill in skills.items()}
    return [
        score.to_json()
        for score in shift_scores(right, num_resamples=50, generator=generator_for(0, "shift"))
    ]


def _adapted(as_is: dict[str, float], *, refused: bool) -> dict[str, Any]:
    """With batch statistics every method is right 5 points more often."""
    if refused:
        return {"min_rows": 500, "refused": "400 test images are fewer than 500", "rows": []}
    draws = torch.rand(NUM_TEST, generator=generator_for(3, "draws"))
    right, adapted = (
        {name: (draws < skill + more).double() for name, skill in as_is.items()} for more in (0, 0.05)
    )
    scores = adapted_scores(right, adapted, num_resamples=50, generator=generator_for(0, "adapted"))
    return {"min_rows": 64, "refused": None, "rows": [score.to_json() for score in scores]}


def _span(value: float) -> dict[str, float]:
    return {"value": value, "low": value - 0.03, "high": value + 0.03}


def planted_shift(
    *,
    damage: Sequence[tuple[str, int]] = DAMAGE,
    groups: bool = False,
    clean: dict[str, float] | None = None,
    refused: bool = False,
) -> dict[str, Any]:
    """Return the content of a file in ``shift/``: at gaussian noise 5 VFusion falls to the last layer's level."""
    skills = CLEAN if clean is None else clean
    conditions: list[dict[str, Any]] = []
    for kind in damage:
        under = {
            name: skill - LOST[kind] * (1 if name == "vfusion" else 0.2) for name, skill in skills.items()
        }
        if kind == ("gaussian_noise", 5):
            under["vfusion"] = under.get("last_layer", 0.5)
        conditions.append(
            {
                "condition": {"set": "corrupted", "corruption": kind[0], "severity": kind[1]},
                "num_samples": NUM_TEST,
                "rows": _scores(under),
                "batch_statistics": _adapted(under, refused=refused),
                "groups": None,
            }
        )
    if groups:
        conditions.append(
            {
                "condition": {"set": "subpopulations", "corruption": None, "severity": None},
                "num_samples": NUM_TEST,
                "rows": _scores(skills),
                "batch_statistics": _adapted(skills, refused=refused),
                "groups": _groups(skills),
            }
        )
    means = {name: skill - 0.1 for name, skill in skills.items()}
    return {
        "comparison": "c" * 64,
        "clean": {
            "num_samples": NUM_TEST,
            "accuracy": {name: _span(skill) for name, skill in skills.items()},
            "batch_statistics": _adapted(skills, refused=refused),
        },
        "failures": [],
        "conditions": conditions,
        "mean": {
            "num_conditions": len(damage),
            "num_samples": NUM_TEST,
            "rows": _scores(means),
            "batch_statistics": _adapted(means, refused=refused),
        }
        if damage
        else None,
    }


def _groups(skills: dict[str, float]) -> dict[str, Any]:
    return {
        "counts": GROUPS,
        "absent": ["round on meadow"],
        "without_group": 2,
        "methods": {
            name: {
                "per_group": {"round on sea": _span(skill - 0.2), "angular on sea": _span(skill)},
                "worst": _span(skill - 0.2),
                "worst_group": "round on sea",
                "mean": _span(skill - 0.1),
            }
            for name, skill in skills.items()
        },
    }


def shifted_pair(
    *, dataset: str = "digits", backbone: str = "nano_supervised", **planted: Any
) -> ShiftedPair:
    """Return such figures as the report has them."""
    return parse_shifted_pair(dataset=dataset, backbone=backbone, content=planted_shift(**planted))
