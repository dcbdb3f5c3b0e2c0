"""A pre-norm Transformer block at one point, and its derivative.   K = columns, N = tokens, R = rows that leave, D = width.

y = x + s1 attention(norm1(x)), z = y + s2 mlp(norm2(y)): everything of the point is computed once, and a product is five matrix products and
a few passes over [K, N, D].
"""

from __future__ import annotations

from torch import Tensor

from vitgeom.backbones import BlockWeights
from vitgeom.linop.attention_derivative import AttentionAt
from vitgeom.linop.mlp_derivative import MlpAt
from vitgeom.linop.norm_derivative import NormAt


class BlockAt:
    """A block linearised at x.

    Args:
        weights: Of its parts.
        x: [N, D].
        rows: R: only the first so many tokens are wanted after the block.

    Attributes:
        output: [R, D].
    """

    def __init__(self, weights: BlockWeights, x: Tensor, *, rows: int) -> None:
        self._scale1, self._scale2, self._rows = weights.scale1, weights.scale2, rows
        self._norm1 = NormAt(weights.norm1, x)
        self._attention = AttentionAt(weights.attention, self._norm1.output, rows=rows)
        y = x[:rows] + _times(self._attention.output, self._scale1)
        self._norm2 = NormAt(weights.norm2, y)
        self._mlp = MlpAt(weights.mlp, self._norm2.output)
        self.output = y + _times(self._mlp.output, self._scale2)

    def push(self, dx: Tensor) -> Tensor:
        """Return the change of the rows that leave, [K, R, D], for dx [K, N, D]."""
        dy = _scaled(self._attention.push(self._norm1.push(dx)), self._scale1).add_(dx[:, : self._rows])
        return _scaled(self._mlp.push(self._norm2.push(dy)), self._scale2).add_(dy)

    def pull(self, g: Tensor) -> Tensor:
        """Return the transposed derivative times g [K, R, D], as [K, N, D]."""
        through_mlp = self._norm2.pull(self._mlp.pull(_times(g, self._scale2)))
        gy = through_mlp.add_(g)
        gx = self._norm1.pull(self._attention.pull(_times(gy, self._scale1)))
        gx[:, : self._rows] += gy
        return gx


def _scaled(own: Tensor, scale: Tensor | None) -> Tensor:
    """Multiply a tensor that nobody else holds."""
    return own if scale is None else own.mul_(scale)


def _times(shared: Tensor, scale: Tensor | None) -> Tensor:
    return shared if scale is None else shared * scale
