"""How well the directions of networks are those of the targets, beside the ceiling, what knows no image, and chance."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from tasks.learnt import SPLIT, OpenedLearnt, directions
from tasks.over_images import OverImages
from vitgeom.metric.alignment import alignment, random_alignment
from vitgeom.metric.choice import SPN
from vitgeom.metric.constant_subspace import constant_subspace


def alignment_table(learnt: OpenedLearnt, over: OverImages) -> dict[str, Any] | None:
    """Return V1 of the network, its lead over the one subspace, image by image, V1 of a second estimate, of the one subspace that fits all training images best, and by chance; None without a network.

    Args:
        learnt: Targets and models.
        over: Makes means with intervals.
    """
    if SPN not in learnt.tests:
        return None
    layout = learnt.targets.layout
    constant = constant_subspace(directions(learnt.targets, "train"), rank=layout.rank)
    found: dict[str, list[Tensor]] = {"ceiling": [], "constant": []}
    both = zip(directions(learnt.targets, SPLIT), directions(learnt.again, SPLIT), strict=True)
    for truth, again in both:
        right, count = truth["right_vectors"].flatten(1, 2), truth["num_found"]
        others = again["right_vectors"].flatten(1, 2)
        some = torch.where(count > 0, 1.0, torch.nan)
        found["ceiling"].append(alignment(others, right, num_found=count) * some)
        found["constant"].append(constant.alignment(right, num_found=count) * some)
    by_seed = learnt.figure(SPN, "alignment")
    lead = torch.stack(by_seed).mean(dim=0) - torch.cat(found["constant"])
    return {
        "learnt": over.summary(by_seed, "alignment"),
        "lead": over.summary([lead], "alignment lead"),
        **{name: over.summary([torch.cat(parts)], f"alignment {name}") for name, parts in found.items()},
        "chance": random_alignment(layout.rank, num_tokens=layout.num_tokens, dim=layout.width),
    }
