"""Super Learner (van der Laan, Polley and Hubbard 2007): the convex combination of layers that held-out rows like best.

n = training rows, b = rows of a block, S = layers, K = classes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.layerwise import LayerwiseClassifier
from vitgeom.fusion.linear_maps import probe_maps
from vitgeom.fusion.mixture_weights import mixture_weights
from vitgeom.fusion.staged_rows import mapped, release
from vitgeom.probes.row_file import RowFile

FLOOR = 1e-6
"""Least probability of a class."""


class SuperLearnerClassifier(LayerwiseClassifier):
    """p = sum_l w_l softmax(logits_l), w >= 0, sum w = 1, fitted on predictions of probes that have not seen the row."""

    weight_: Float64[Tensor, " S"]
    gap_: float
    _ARRAYS: ClassVar[tuple[str, ...]] = ("weight_",)
    _NUMBERS: ClassVar[tuple[str, ...]] = ("gap_",)

    def _fit(self, evidence: Evidence) -> None:
        layers = range(evidence.data.train.num_layers)
        self.maps_ = probe_maps(evidence, layers)
        probability = truth_probability(evidence)
        found = mixture_weights(probability)
        release(probability)
        self.weight_, self.gap_ = found.weight, found.gap

    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        log_p = torch.log_softmax(scores, dim=2)
        return torch.logsumexp(log_p + self.weight_.log()[:, None], dim=1)

    def _own_parameters(self) -> int:
        return len(self.weight_)

    def _own_flops(self) -> int:
        return 2 * len(self.weight_) * self.maps_.num_classes


def truth_probability(evidence: Evidence) -> Float64[Tensor, "n S"] | RowFile:
    """Return the held-out probability that each layer gave to each training row's class, at least :data:`FLOOR`.

    A row whose class has no member outside its fold gets the floor from every layer, whatever the solver made of a class without
    members: no layer is to blame, and equal entries have no say in the weights.

    Args:
        evidence: Held-out logits of all layers.
    """
    held_out = [evidence.held_out(layer) for layer in range(evidence.data.train.num_layers)]
    return mapped(
        _floored_truth,
        evidence.data.target,
        _never_shown(evidence),
        *held_out,
        width=len(held_out),
        byte_budget=evidence.byte_budget,
        dtype=torch.float64,
    )


def _floored_truth(
    target: Int64[Tensor, " b"], never_shown: Bool[Tensor, " b"], *logits: Tensor
) -> Float64[Tensor, "b S"]:
    """Return what each layer's logits give to the true class."""
    rows, columns = torch.arange(len(target)), []
    for part in logits:
        log_p = torch.log_softmax(part.double(), dim=1)
        columns.append(log_p[rows, target].exp())
    p = torch.stack(columns, dim=1).clamp(min=FLOOR)
    return p.masked_fill(never_shown[:, None], FLOOR)


def _never_shown(evidence: Evidence) -> Bool[Tensor, " n"]:
    """Say for each row whether its class has no member outside its fold."""
    fold, target = evidence.fold, evidence.data.target
    members = torch.zeros(int(fold.max()) + 1, evidence.data.num_classes, dtype=torch.int64)
    members.index_put_((fold, target), torch.ones_like(target), accumulate=True)
    return members[fold, target] == members.sum(dim=0)[target]
