"""AdamW (Loshchilov and Hutter 2019), alone: PyTorch's own loads its compiler, which takes seconds in every process."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

BETAS = (0.9, 0.999)
EPSILON = 1e-8


class AdamW:
    """Steps of size ``learning_rate`` along m / (sqrt(v) + eps), with weights shrunk beside the gradient."""

    def __init__(self, weights: Sequence[Tensor], *, learning_rate: float, weight_decay: float) -> None:
        """Start with zero moments.

        Args:
            weights: Leaves that require gradients; changed in place.
            learning_rate: Step size.
            weight_decay: Share of a weight, per learning rate, that each step takes away.
        """
        self._weights = list(weights)
        self._first = [torch.zeros_like(weight) for weight in self._weights]
        self._second = [torch.zeros_like(weight) for weight in self._weights]
        self._learning_rate, self._decay = learning_rate, weight_decay
        self._steps = 0

    def moments(self) -> tuple[list[Tensor], list[Tensor], int]:
        """Return first moments, second moments and steps taken: all that is needed to go on. The tensors are those in use; clone what is to last."""
        return self._first, self._second, self._steps

    @torch.no_grad()
    def resume(self, first: Sequence[Tensor], second: Sequence[Tensor], *, steps: int) -> None:
        """Go on from the moments of another run.

        Args:
            first: First moments, one per weight; copied.
            second: Second moments, likewise.
            steps: How many steps led there.
        """
        for mine, given in zip([*self._first, *self._second], [*first, *second], strict=True):
            mine.copy_(given)
        self._steps = steps

    @torch.no_grad()
    def step(self, gradients: Sequence[Tensor], *, share: float = 1.0) -> None:
        """Take one step.

        Args:
            gradients: One per weight.
            share: Of the learning rate, as a schedule has it.
        """
        self._steps += 1
        rate = share * self._learning_rate
        correct_first, correct_second = (1 - beta**self._steps for beta in BETAS)
        for weight, gradient, first, second in zip(
            self._weights, gradients, self._first, self._second, strict=True
        ):
            first.lerp_(gradient, 1 - BETAS[0])
            second.lerp_(gradient.square(), 1 - BETAS[1])
            size = (second / correct_second).sqrt_().add_(EPSILON)
            weight.mul_(1 - rate * self._decay).addcdiv_(first, size, value=-rate / correct_first)
