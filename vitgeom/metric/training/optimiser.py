"""AdamW on all weights of a module, with clipped gradients; what is no matrix does not decay."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import torch
from torch import Tensor, nn

from vitgeom.adamw import AdamW
from vitgeom.errors import NumericalFailure


class Optimiser:
    """Steps for the weights of one module.

    Args:
        module: Its parameters that require gradients are changed in place.
        learning_rate: At its height.
        weight_decay: Of matrices; vectors (biases, scales) keep theirs.

    Attributes:
        names: Of the weights, in the order in which gradients are given.
        weights: The parameters.
        steps: Taken so far.
    """

    def __init__(self, module: nn.Module, *, learning_rate: float, weight_decay: float) -> None:
        named = {name: weight for name, weight in module.named_parameters() if weight.requires_grad}
        self.names, self.weights = tuple(named), tuple(named.values())
        self._places = [[i for i, one in enumerate(self.weights) if (one.ndim > 1) is matrix] for matrix in (True, False)]  # fmt: skip
        self._parts = [
            AdamW(
                [self.weights[i] for i in places],
                learning_rate=learning_rate,
                weight_decay=weight_decay if matrix else 0.0,
            )
            for places, matrix in zip(self._places, (True, False), strict=True)
        ]

    @property
    def steps(self) -> int:
        """Steps taken so far."""
        return self._parts[0].moments()[2]

    def step(self, gradients: Sequence[Tensor], *, share: float, clip_norm: float) -> float:
        """Take one step and return the gradient's norm before it was clipped.

        Args:
            gradients: One per weight.
            share: Of the learning rate.
            clip_norm: Largest norm of all gradients together.

        Raises:
            NumericalFailure: A gradient is not finite; no weight was changed.
        """
        norm = torch.stack([gradient.float().square().sum() for gradient in gradients]).sum().sqrt()
        length = float(norm)
        if not length < float("inf"):
            raise NumericalFailure(
                f"the gradient is not finite (norm {length}): {self._culprits(gradients)}. Lower the learning rate, or look at the targets."
            )
        factor = min(1.0, clip_norm / length) if length > 0 else 1.0
        for places, part in zip(self._places, self._parts, strict=True):
            part.step([factor * gradients[i] for i in places], share=share)
        return length

    def tensors(self) -> dict[str, Tensor]:
        """Return copies of all moments by name of the weight, ``first.*`` and ``second.*``."""
        found = {}
        for places, part in zip(self._places, self._parts, strict=True):
            first, second, _ = part.moments()
            for i, one, two in zip(places, first, second, strict=True):
                found[f"first.{self.names[i]}"], found[f"second.{self.names[i]}"] = one.clone(), two.clone()
        return found

    def resume(self, tensors: Mapping[str, Tensor], *, steps: int) -> None:
        """Go on from what :meth:`tensors` returned.

        Args:
            tensors: Moments by name.
            steps: Taken until then.
        """
        for places, part in zip(self._places, self._parts, strict=True):
            names = [self.names[i] for i in places]
            part.resume([tensors[f"first.{name}"] for name in names], [tensors[f"second.{name}"] for name in names], steps=steps)  # fmt: skip

    def _culprits(self, gradients: Sequence[Tensor]) -> str:
        bad = [name for name, one in zip(self.names, gradients, strict=True) if not one.isfinite().all()]
        return ", ".join(bad[:3]) + (f" and {len(bad) - 3} more" if len(bad) > 3 else "")
