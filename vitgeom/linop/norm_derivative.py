"""Layer norm at one point, and its derivative.   K = columns, D = normalised axis; other axes are free.

With z = (x - mean) / std, the derivative of z is S = (I - 1 1^T / D - z z^T / D) / std, which is symmetric; the norm is w z + b.
"""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.backbones.block_weights import NormWeights


class NormAt:
    """A layer norm linearised at x.

    Args:
        weights: Weight, bias and epsilon.
        x: [..., D]; kept as z and 1 / std.

    Attributes:
        output: The norm of x.
    """

    def __init__(self, weights: NormWeights, x: Tensor) -> None:
        variance, mean = torch.var_mean(x, dim=-1, correction=0, keepdim=True)
        self._rstd = (variance + weights.eps).rsqrt()
        self._z = (x - mean) * self._rstd
        self._weight = weights.weight
        output = self._z if self._weight is None else self._z * self._weight
        self.output = output if weights.bias is None else output + weights.bias

    def push(self, dx: Tensor) -> Tensor:
        """Return w S dx; leading axes of dx may be more than those of x."""
        dz = self._symmetric(dx)
        return dz if self._weight is None else dz.mul_(self._weight)

    def pull(self, g: Tensor) -> Tensor:
        """Return S (w g)."""
        return self._symmetric(g if self._weight is None else g * self._weight)

    def _symmetric(self, d: Tensor) -> Tensor:
        along = torch.linalg.vecdot(d, self._z).unsqueeze(-1).div_(-d.shape[-1])
        centred = d - d.mean(dim=-1, keepdim=True)
        return centred.addcmul_(self._z, along).mul_(self._rstd)
