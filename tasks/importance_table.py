"""How scores rank patches, beside what two estimates of the truth agree on.   n = test images, N = tokens.

Prefix tokens are left out: they are never pruned, and a class token's own residual path would make every score look good.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from tasks.learnt import SPLIT, OpenedLearnt
from tasks.metric_scores import plain_scores
from tasks.over_images import OverImages
from vitgeom.backbones import Backbone
from vitgeom.metric.constant_importance import constant_importance
from vitgeom.metric.rank_correlation import rank_correlation
from vitgeom.store.targets import TargetStore

TARGETS = ("importance", "block_norms")
"""From the directions stored, and without truncation."""
EXACT = "exact block norms"


def importance_table(
    learnt: OpenedLearnt, over: OverImages, *, backbone: Backbone, layer: int, target: str
) -> dict[str, Any]:
    """Return Spearman's rho over patches with both targets: of every score, of a second estimate, and of one target with the other; and by how much models lead.

    Args:
        learnt: Targets and models.
        over: Makes means with intervals; its seed draws the random scores.
        backbone: Whose tokens they are.
        layer: Blocks that have run before them.
        target: What the importance head learnt; the one map for all images is made of that, too.
    """
    prefix = backbone.spec.layout.num_prefix
    truth, again = (
        {name: _read(store, name) for name in TARGETS} for store in (learnt.targets, learnt.again)
    )

    def rho(one: Tensor, other: Tensor) -> Tensor:
        return rank_correlation(one[:, prefix:].double(), other[:, prefix:].double()).with_nan()

    ceiling = {name: over.summary([rho(truth[name], again[name])], f"ceiling {name}") for name in TARGETS}
    constant = constant_importance([{"importance": torch.from_numpy(learnt.targets.read("train", target))}])
    features = torch.from_numpy(learnt.targets.read(SPLIT, "features")).float()
    plain = plain_scores(features, backbone, layer=layer, seed=over.seed)
    scores = {
        **{name: learnt.importance(name) for name in learnt.tests},
        "one map for all images": [constant.expand(len(features), -1)],
        EXACT: [truth["block_norms"]],
        **{name: [each] for name, each in plain.items()},
    }
    rhos = {
        name: {against: [rho(each, truth[against]) for each in seeds] for against in TARGETS}
        for name, seeds in scores.items()
    }
    found = {
        name: {against: over.summary(each, f"{name} {against}") for against, each in by_target.items()}
        for name, by_target in rhos.items()
    }
    return {
        "ceiling": ceiling,
        "truncation": found[EXACT]["importance"],
        "scores": found,
        "leads": {
            model: {
                other: {
                    against: over.summary(
                        [_mean(rhos[model][against]) - _mean(rhos[other][against])],
                        f"{model} over {other} {against}",
                    )
                    for against in TARGETS
                }
                for other in rhos
                if other != model
            }
            for model in learnt.tests
        },
    }


def _mean(by_seed: Sequence[Tensor]) -> Tensor:
    return torch.stack(list(by_seed)).mean(dim=0)


def _read(store: TargetStore, name: str) -> Tensor:
    return torch.from_numpy(store.read(SPLIT, name))
