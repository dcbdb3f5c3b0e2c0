"""The MLP of a block at one point, and its derivative.   K = columns, N = tokens, D = width, H = hidden width."""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from vitgeom.backbones.block_weights import MlpWeights


class MlpAt:
    """fc2(gate(fc1(x))) linearised at x: only the slopes of the gate are kept.

    Args:
        weights: Of both layers, and the gate.
        x: [N, D].

    Attributes:
        output: The MLP of x, [N, D].
    """

    def __init__(self, weights: MlpWeights, x: Tensor) -> None:
        self._w1, self._w2 = weights.fc1.weight, weights.fc2.weight
        z = F.linear(x, self._w1, weights.fc1.bias)
        hidden, self._slopes = gate_and_slopes(weights, z)
        self.output = F.linear(hidden, self._w2, weights.fc2.bias)

    def push(self, dx: Tensor) -> Tensor:
        """Return the change of the output, [K, N, D], for dx [K, N, D]."""
        dz = F.linear(dx, self._w1)
        return F.linear(self._through_gate(dz), self._w2)

    def pull(self, g: Tensor) -> Tensor:
        """Return the transposed derivative times g, [K, N, D]."""
        dh = g @ self._w2
        if len(self._slopes) == 1:
            return dh.mul_(self._slopes[0]) @ self._w1
        return torch.cat([dh * slope for slope in self._slopes], dim=-1) @ self._w1

    def _through_gate(self, dz: Tensor) -> Tensor:
        if len(self._slopes) == 1:
            return dz.mul_(self._slopes[0])
        first, last = dz.chunk(2, dim=-1)
        return (first * self._slopes[0]).addcmul_(last, self._slopes[1])


def gate_and_slopes(weights: MlpWeights, z: Tensor) -> tuple[Tensor, tuple[Tensor, ...]]:
    """Return gate(z), and its derivative by each half of z (by z itself without a gate).

    Args:
        weights: Say which gate.
        z: Hidden values before it.
    """
    if weights.gated is None:
        value, slope = _with_slope(weights, z)
        return value, (slope,)
    first, last = z.chunk(2, dim=-1)
    if weights.gated == "first":
        value, slope = _with_slope(weights, first)
        return value * last, (slope * last, value)
    value, slope = _with_slope(weights, last)
    return first * value, (value, first * slope)


def _with_slope(weights: MlpWeights, z: Tensor) -> tuple[Tensor, Tensor]:
    """Return an elementwise function and its derivative; one sum's gradient is every element's own."""
    with torch.enable_grad():
        leaf = z.detach().requires_grad_(True)
        value = weights.activation(leaf.clone())
        (slope,) = torch.autograd.grad(value.sum(), leaf)
    return value.detach(), slope
