"""Comparisons of methods for the tests of the report: planted right and wrong answers, compared by the code that does it in a run."""

from __future__ import annotations

from typing import Any

import torch
from safetensors.torch import save

from vitgeom.fusion.comparison import compare
from vitgeom.fusion.methods import METHODS
from vitgeom.report.fused_pair import FusedPair, parse_fused_pair
from vitgeom.seeding import generator_for

SKILLS = {
    "last_layer": 0.6,
    "best_layer": 0.7,
    "super_learner": 0.75,
    "vfusion_last_half": 0.85,
    "vfusion": 0.9,
}
NUM_TEST = 300


def planted_answers(skills: dict[str, float] | None = None) -> dict[str, torch.Tensor]:
    """Return the content of a ``predictions.safetensors`` whose methods are right on such shares of the samples."""
    draws = torch.rand(NUM_TEST, generator=generator_for(2, "draws"))
    # One draw decides for all methods, so that a better one is right wherever a worse one is.
    answers = {
        name: (draws >= skill).long()[None] for name, skill in (SKILLS if skills is None else skills).items()
    }
    return {
        **{
            name: torch.cat([line, line]) if name in METHODS and METHODS[name].stochastic else line
            for name, line in answers.items()
        },
        "layers": torch.stack([(draws >= 0.6).long(), (draws >= 0.7).long(), (draws <= 0.4).long()]),
        "target": torch.zeros(NUM_TEST, dtype=torch.int64),
    }


def planted_table(
    skills: dict[str, float] | None = None,
    *,
    reference: str = "vfusion",
    failures: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Return the content of the ``comparison.json`` beside :func:`planted_answers`."""
    skills = SKILLS if skills is None else skills
    answers = planted_answers(skills)
    target, layers = answers.pop("target"), answers.pop("layers")
    comparison = compare(
        answers,
        target,
        layer_predictions=layers,
        best_layer=1,
        reference=reference,
        seed=0,
        num_resamples=100,
    )
    return {
        "comparison": comparison.to_json(),
        "layers": {"number": len(layers), "best": 1},
        "methods": [
            {
                "name": name,
                "title": METHODS[name].title,
                "family": METHODS[name].family,
                "parameters": 12_345,
                "flops_per_image": 24_690,
                "backbone_passes": 2 if METHODS[name].several_backbones else 1,
            }
            for name in skills
            if name in METHODS
        ],
        "failures": [
            {"name": name, "title": METHODS[name].title, "error": error}
            for name, error in (failures or {}).items()
        ],
    }


def fused_pair(*, dataset: str = "digits", backbone: str = "nano_supervised", **planted: Any) -> FusedPair:
    """Return such a comparison as the report has it."""
    return parse_fused_pair(
        dataset=dataset,
        backbone=backbone,
        table=planted_table(**planted),
        predictions=save(planted_answers(planted.get("skills"))),
        seconds_per_image={"vfusion": 2.5e-5},
    )


def across(*, dataset: str = "digits") -> FusedPair:
    """Return a comparison over two backbones."""
    skills = {"last layer of a": 0.6, "last layer of b": 0.8, "hfusion": 0.9}
    return fused_pair(dataset=dataset, backbone="a + b", skills=skills, reference="hfusion")
