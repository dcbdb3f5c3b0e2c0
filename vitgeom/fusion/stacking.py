"""Stacking (Wolpert 1992) with a logistic meta-learner on the layers' logits.

n = rows, b = rows of a block, S = layers, K = classes, f = S K stacked logits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import ClassVar

import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.layerwise import LayerwiseClassifier
from vitgeom.fusion.linear_maps import probe_maps
from vitgeom.fusion.staged_rows import mapped, release
from vitgeom.probes import fit_layer
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.selection import choose_strength, validation_scores

_TOL = 1e-5


class LogisticStackingClassifier(LayerwiseClassifier):
    """Softmax regression with L2 on standardised held-out logits of all layers; strength by validation log-loss."""

    mean_: Float64[Tensor, " f"]
    std_: Float64[Tensor, " f"]
    weight_: Float64[Tensor, "f K"]
    bias_: Float64[Tensor, " K"]
    l2_: float
    _ARRAYS: ClassVar[tuple[str, ...]] = ("mean_", "std_", "weight_", "bias_")
    _NUMBERS: ClassVar[tuple[str, ...]] = ("l2_",)

    def _fit(self, evidence: Evidence) -> None:
        layers = range(evidence.data.train.num_layers)
        self.maps_ = probe_maps(evidence, layers)
        strengths = torch.tensor(evidence.settings.l2, dtype=torch.float64)
        train = _side_by_side(evidence.held_out, layers, byte_budget=evidence.byte_budget)
        fit = fit_layer(
            train,
            evidence.data.target,
            num_classes=evidence.data.num_classes,
            l2=strengths,
            tol=_TOL,
            byte_budget=evidence.byte_budget,
        )
        val = _side_by_side(evidence.val_logits, layers, byte_budget=evidence.byte_budget)
        loss, _ = validation_scores(fit, val, evidence.data.val_target, num_train=len(evidence.data.target))
        release(train, val)
        chosen = choose_strength(loss)
        self.l2_ = float(strengths[chosen])
        self.mean_, self.std_ = fit.standardiser.mean, fit.standardiser.std
        self.weight_, self.bias_ = fit.weight[chosen].clone(), fit.bias[chosen].clone()

    def _combine(
        self, scores: Float64[Tensor, "b S K"], z: Sequence[Float64[Tensor, "b _"]]
    ) -> Float64[Tensor, "b K"]:
        stacked = (scores.flatten(1) - self.mean_) / self.std_
        return torch.log_softmax(stacked @ self.weight_ + self.bias_, dim=1)

    def _own_parameters(self) -> int:
        return self.weight_.numel() + self.bias_.numel()

    def _own_flops(self) -> int:
        return 2 * len(self.mean_) + 2 * self.weight_.numel() + len(self.bias_)


def _side_by_side(
    logits: Callable[[int], Float32[Tensor, "n K"] | RowFile], layers: range, *, byte_budget: int
) -> Float32[Tensor, "n f"] | RowFile:
    parts = [logits(layer) for layer in layers]
    return mapped(_stacked, *parts, width=len(parts) * parts[0].shape[1], byte_budget=byte_budget)


def _stacked(*parts: Tensor) -> Tensor:
    return torch.cat(parts, dim=1)
