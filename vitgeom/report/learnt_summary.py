"""Learnt metrics for machines."""

from __future__ import annotations

from typing import Any

from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_alignment import KINDS, Alignment
from vitgeom.report.learnt_bottleneck import Bottleneck
from vitgeom.report.learnt_decoder import LearntDecoder
from vitgeom.report.learnt_pair import LearntPair


def learnt_summary(pair: LearntPair) -> dict[str, Any]:
    """Return the main figures of one pair as plain JSON; what does not exist is null.

    Args:
        pair: What was learnt on one dataset × backbone.
    """
    return {
        "dataset": pair.dataset,
        "backbone": pair.backbone,
        "decoders": {one.key: _decoder(one) for one in pair.decoders},
    }


def _decoder(one: LearntDecoder) -> dict[str, Any]:
    return {
        "regime": one.choice.regime,
        "trained": list(one.choice.learners),
        "asked": one.choice.asked,
        "directions": one.rank,
        "images": dict(one.images),
        "products_per_image": one.products,
        "parameters": {name: model.parameters for name, model in one.models.items()},
        "rho": {
            score: {target: _mean(found) for target, found in by_target.items()}
            for score, by_target in one.scores.items()
        },
        "rho_ceiling": {target: _mean(found) for target, found in one.ceiling.items()},
        "rho_truncation": _mean(one.truncation),
        "seconds_per_image": dict(one.seconds),
        "alignment": _alignment(one.alignment),
        "ranks": None if one.ranks is None else [dict(vars(trial)) for trial in one.ranks.winners],
        "bottleneck": None if one.bottleneck is None else _bottleneck(one.bottleneck),
    }


def _bottleneck(found: Bottleneck) -> dict[str, Any]:
    return {
        "latents": found.latents,
        "rebuild_error": _mean(found.rebuild_error),
        "task_error": _mean(found.task_error),
        **{
            name: {"before": _mean(change.before), "after": _mean(change.after)}
            for name, change in found.figures.items()
        },
        "alignment_of_latents": None if found.behind is None else _alignment(found.behind.alignment),
    }


def _alignment(found: Alignment | None) -> dict[str, Any] | None:
    if found is None:
        return None
    return {**{kind: _mean(getattr(found, kind)) for kind in KINDS}, "chance": found.chance}


def _mean(found: Averaged | None) -> dict[str, Any] | None:
    return None if found is None else {**found.mean.to_json(), "images": found.images}
