"""How weights move during pre-training: Muon for the matrices of the blocks, AdamW for the rest, one schedule for both."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import torch
from torch import Tensor, nn

from vitgeom.backbones.pretraining.muon import Muon

WARM_UP = 60
CONSTANT_UNTIL = 0.4


@dataclass(frozen=True)
class Rates:
    """Largest step sizes."""

    matrices: float = 0.02
    rest: float = 2e-3


class Descent:
    """Both optimisers and their schedule: linear warm-up, constant, then linear to zero."""

    def __init__(
        self, blocks: Iterable[nn.Module], everything: Iterable[nn.Parameter], *, steps: int, rates: Rates
    ) -> None:
        matrices = [p for block in blocks for p in block.parameters() if p.ndim == 2]
        known = {id(p) for p in matrices}
        self._rest = [p for p in everything if id(p) not in known]
        self._optimisers: list[tuple[torch.optim.Optimizer, float]] = [
            (Muon(matrices, lr=rates.matrices), rates.matrices),
            (torch.optim.AdamW(self._rest, lr=rates.rest, betas=(0.9, 0.98), weight_decay=0.0), rates.rest),
        ]
        self._steps = steps

    def step(self, loss: Tensor, number: int) -> None:
        """Move against the gradient of ``loss``.

        Args:
            loss: Scalar.
            number: Of this step, from 0.
        """
        share = schedule(number, steps=self._steps)
        for optimiser, rate in self._optimisers:
            optimiser.zero_grad()
            for group in optimiser.param_groups:
                group["lr"] = rate * share
        loss.backward()
        nn.utils.clip_grad_norm_(self._rest, 1.0)
        for optimiser, _ in self._optimisers:
            optimiser.step()


def schedule(number: int, *, steps: int) -> float:
    """Return the share of the largest rate at step ``number`` of ``steps``.

    Args:
        number: From 0.
        steps: In all.
    """
    return min(1.0, (number + 1) / WARM_UP) * min(1.0, (1 - number / steps) / (1 - CONSTANT_UNTIL))
