"""Files of learnt metrics for the tests of the report: made up, in the shape that a run writes.

Three decoders: a class token that an importance head learns, a depth map that a network learns, and a patch mean behind a bottleneck.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from tests.support.directed_results import GRID, PREFIX, TOKENS, WIDTH, picture
from vitgeom.metric.choice import choose
from vitgeom.report.learnt_pair import LearntPair, parse_learnt_pair

RANK, OUTPUTS = 3, 12
IMAGES = {"train": 400, "val": 80, "test": 80}
DECODERS = (("cls", 4), ("scenes_depth", 8), ("patch_mean", 8))
REGIME = {"cls": "token_local", "scenes_depth": "low_rank_delocalised", "patch_mean": "high_rank"}
RHO = {"importance": 0.93, "spn": 0.9}


def average(value: float, *, std: float = 0.12, images: int = 80, seeds: int = 1) -> dict[str, Any]:
    """Return a mean over images with an interval of 1.96 standard errors."""
    half = 1.96 * std / math.sqrt(images)
    offsets = [0.004 * (seed - (seeds - 1) / 2) for seed in range(seeds)]
    return {
        "mean": {"value": value, "low": value - half, "high": value + half},
        "images": images,
        "std": std,
        "seeds": [value + offset for offset in offsets],
    }


def planted_metric(
    *,
    decoders: Sequence[tuple[str, int]] = DECODERS,
    asked: Sequence[str] | None = None,
    rho: Mapping[str, float] = RHO,
    ceiling: float = 0.985,
    truncation: float = 0.96,
    v1: tuple[float, float, float] = (0.64, 0.71, 0.31),
    ranks: bool = True,
    one_map: float = 0.3,
) -> dict[str, Any]:
    """Return the content of a file of learnt metrics.

    Args:
        decoders: As (name, layer).
        asked: Models that are trained whatever the regime.
        rho: Of each model with the exact importance.
        ceiling: rho of two estimates of it.
        truncation: rho of the two targets.
        v1: Of the network, its ceiling, and one subspace for all images.
        ranks: Whether ranks were tried where a network was trained.
        one_map: rho of one map for all images.
    """
    return {
        "of": {"dataset": "d" * 64, "weights": "w" * 64},
        "tokens": {**PREFIX, "grid": list(GRID)},
        "num_bootstrap": 50,
        "pairs": [
            _entry(name, layer, asked, rho, ceiling, truncation, v1, ranks, one_map)
            for name, layer in decoders
        ],
        "pictures": {f"digit-{place}": picture(place) for place in range(2)},
    }


def learnt_pair(
    *,
    dataset: str = "digits",
    backbone: str = "nano_supervised",
    seconds: Mapping[str, Mapping[str, float]] | None = None,
    **planted_as: Any,
) -> LearntPair:
    """Return such figures as the report has them."""
    return parse_learnt_pair(
        dataset=dataset, backbone=backbone, content=planted_metric(**planted_as), seconds=seconds
    )


def _entry(
    name: str,
    layer: int,
    asked: Sequence[str] | None,
    rho: Mapping[str, float],
    ceiling: float,
    truncation: float,
    v1: tuple[float, float, float],
    ranks: bool,
    one_map: float,
) -> dict[str, Any]:
    regime = REGIME.get(name, "token_local")
    choice = choose(
        {regime: 72, "structural": 0, "high_rank" if regime != "high_rank" else "token_local": 8},
        has_head=True,
        asked=asked,
    )
    plain = {
        "one map for all images": one_map,
        "feature norm": 0.34,
        "class attention": 0.66,
        "random": 0.004,
    }
    learners = [learner for learner in choice.learners if learner != "bottleneck"]
    scores = {learner: (rho[learner], rho[learner] - 0.03, 3) for learner in learners}
    scores["exact block norms"] = (truncation, 1.0, 1)
    scores.update({score: (value, 0.97 * value, 1) for score, value in plain.items()})
    network = "spn" in choice.learners
    return {
        "decoder": {"name": name, "layer": layer, "metric": "euclidean"},
        "choice": choice.to_json(),
        "images": dict(IMAGES),
        "rank": RANK,
        "shape": [OUTPUTS, TOKENS * WIDTH],
        "recipe": "krylov",
        "products_per_image": 187.5,
        "importance": {
            "ceiling": {"importance": average(ceiling, std=0.01), "block_norms": average(0.999, std=0.001)},
            "truncation": average(truncation, std=0.02),
            "scores": {
                score: {
                    "importance": average(ranked, seeds=seeds),
                    "block_norms": average(untruncated, seeds=seeds, std=0.12 if untruncated < 1 else 0.0),
                }
                for score, (ranked, untruncated, seeds) in scores.items()
            },
            "leads": {
                learner: {
                    score: {
                        "importance": average(scores[learner][0] - ranked),
                        "block_norms": average(scores[learner][1] - untruncated),
                    }
                    for score, (ranked, untruncated, _) in scores.items()
                    if score != learner
                }
                for learner in learners
            },
        },
        "alignment": _alignment(v1) if network else None,
        "models": {learner: _model(learner, rho[learner]) for learner in learners},
        "ranks": _ranks() if network and ranks else None,
        "bottleneck": _bottleneck() if "bottleneck" in choice.learners else None,
        "maps": [_map(place, learners) for place in range(2)],
        "origin": {"address": "targets/x", "digest": "t" * 64, "models": {}},
    }


def _alignment(v1: tuple[float, float, float]) -> dict[str, Any]:
    learnt, ceiling, constant = v1
    return {
        "learnt": average(learnt, seeds=3),
        "lead": average(learnt - constant),
        "ceiling": average(ceiling, std=0.02),
        "constant": average(constant),
        "chance": RANK / (TOKENS * WIDTH),
    }


def _model(learner: str, rho: float) -> dict[str, Any]:
    parameters = {"importance": 310_017, "spn": 2_420_000}
    figures: dict[str, Any] = {"rho": average(rho, seeds=3)}
    if learner == "spn":
        figures |= {"alignment": average(0.64, seeds=3), "energy_error": None}
    return {
        "seeds": [0, 1, 2],
        "parameters": parameters[learner],
        "epochs": [41, 38, None],
        "figures": figures,
    }


def _ranks() -> dict[str, Any]:
    trials = [
        {
            "rank": rank,
            "hidden": hidden,
            "state": "completed",
            "captured": (0.78 + 0.0006 * (hidden - 128) - 0.004 * rank) * most,
            "ceiling": most,
            "alignment": 0.72 - 0.008 * rank,
            "parameters": 390_000 + 1_500 * hidden * rank,
            "epochs": 3,
            "problem": None,
            "curve": [0.9, 0.5, 0.28 + 0.008 * rank],
        }
        for hidden in (128, 256)
        for rank, most in ((2, 0.21), (4, 0.34), (8, 0.49), (16, 0.63))
    ]
    nothing = {"captured": None, "alignment": None, "parameters": None}
    trials[3] |= {"state": "failed", "problem": "NumericalFailure: the loss is nan.", **nothing}
    trials[2] |= {"state": "stopped"}
    best = [{"rank": rank, "hidden": 256} for rank in (2, 4, 8, 16)]
    return {"trials": trials, "best": best}


def _bottleneck() -> dict[str, Any]:
    changes = {
        "participation_ratio": (282.0, 41.0),
        "entropy_rank": (410.0, 57.0),
        "r_90": (655.0, 88.0),
    }
    figures = {
        name: {"before": average(before, std=before / 8), "after": average(after, std=after / 6, seeds=3)}
        for name, (before, after) in changes.items()
    }
    figures["kappa"] = {"before": average(0.12, std=0.02), "after": average(0.42, std=0.05, seeds=3)}
    return {
        "registers": 32,
        "width": 128,
        "figures": figures,
        "rebuild_error": average(0.083, std=0.02),
        "task_error": average(0.041, std=0.01),
        "parameters": 5_130_000,
        "behind": {
            "images": dict(IMAGES),
            "rank": RANK,
            "shape": [OUTPUTS, 32 * 128],
            "recipe": "exact",
            "products_per_image": 12.0,
            "alignment": _alignment((0.52, 0.99, 0.2)),
            "models": {"spn": _model("spn", 0.4)},
            "origin": {"address": "targets/y", "digest": "t" * 64, "models": {}},
        },
    }


def _map(place: int, learners: Sequence[str]) -> dict[str, Any]:
    exact = [abs(math.sin(3 + 1.7 * token + place)) for token in range(TOKENS)]
    return {
        "sample": f"digit-{place}",
        "image": place,
        "exact": exact,
        "learnt": {
            learner: [value * (0.8 + 0.3 * math.cos(token + number)) for token, value in enumerate(exact)]
            for number, learner in enumerate(learners)
        },
    }
