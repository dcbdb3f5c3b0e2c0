"""Self-attention at one point, and its derivative.

K = columns, N = tokens, R = query rows, H = heads, P = width of a head, D = width. Inside, columns follow heads: [H, K, N, P].
With S = Q K^T scale, A = softmax(S), O = A V: dS = scale (dQ K^T + Q dK^T), dO = (A dS) V - rowsum(A dS) O + A dV (A dS elementwise).
"""

from __future__ import annotations

import torch
import torch.nn.functional as F
from torch import Tensor

from vitgeom.backbones.block_weights import AttentionWeights, NormWeights
from vitgeom.linop.norm_derivative import NormAt


class AttentionAt:
    """Attention of all tokens, or of the first ones, linearised at x.

    Args:
        weights: Of all heads.
        x: [N, D].
        rows: R: the first so many tokens ask; all tokens are asked.

    Attributes:
        output: [R, D].
    """

    def __init__(self, weights: AttentionWeights, x: Tensor, *, rows: int) -> None:
        self._heads, self._rows = weights.num_heads, rows
        self._w_qkv, self._w_proj = weights.qkv.weight, weights.proj.weight
        qkv = F.linear(x, self._w_qkv, weights.qkv.bias)
        q, k, self._v = qkv.unflatten(-1, (3, self._heads, -1)).permute(1, 2, 0, 3).contiguous()
        q, self._q_norm = _normed(weights.q_norm, q[:, :rows])
        k, self._k_norm = _normed(weights.k_norm, k)
        # The scale of the scores goes into what stands beside their derivatives.
        self._q, self._k = q * weights.scale, k * weights.scale
        self._a = (self._q @ k.mT).softmax(dim=-1)
        self._o = self._a @ self._v
        self.output = F.linear(self._o.transpose(0, 1).flatten(1), self._w_proj, weights.proj.bias)

    def push(self, dx: Tensor) -> Tensor:
        """Return the change of the output, [K, R, D], for dx [K, N, D]."""
        dq, dk, dv = self._push_inputs(dx)
        if self._q_norm is not None:
            dq = self._q_norm.push(dq)
        if self._k_norm is not None:
            dk = self._k_norm.push(dk)
        a, o = self._a[:, None], self._o[:, None]
        scores = self._scores(dq, dk).mul_(a)
        do = _times(scores, self._v)
        _products_into(do, self._a, dv, keep=1)
        do.addcmul_(scores.sum(dim=-1, keepdim=True), o, value=-1)
        return F.linear(_heads_last(do), self._w_proj)

    def pull(self, g: Tensor) -> Tensor:
        """Return the transposed derivative times g [K, R, D], as [K, N, D]."""
        go = (g @ self._w_proj).unflatten(-1, (self._heads, -1)).permute(2, 0, 1, 3).contiguous()
        gs = _times(go, self._v.mT)
        gs.sub_(torch.linalg.vecdot(go, self._o[:, None]).unsqueeze(-1)).mul_(self._a[:, None])
        gq, gk, gv = (
            _times(gs, self._k),
            gs.mT @ self._q[:, None],
            go.new_empty(*gs.shape[:2], *self._v.shape[1:]),
        )
        _products_into(gv, self._a.mT, go, keep=0)
        if self._q_norm is not None:
            gq = self._q_norm.pull(gq)
        if self._k_norm is not None:
            gk = self._k_norm.pull(gk)
        return self._pull_inputs(gq, gk, gv)

    def _push_inputs(self, dx: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return changes of queries of the first rows, and of keys and values of all."""
        width = self._w_qkv.shape[0] // 3
        if self._rows == dx.shape[1]:
            dq, dk, dv = self._split(F.linear(dx, self._w_qkv), 3)
        else:
            (dq,) = self._split(F.linear(dx[:, : self._rows], self._w_qkv[:width]), 1)
            dk, dv = self._split(F.linear(dx, self._w_qkv[width:]), 2)
        return dq, dk, dv

    def _pull_inputs(self, gq: Tensor, gk: Tensor, gv: Tensor) -> Tensor:
        width = self._w_qkv.shape[0] // 3
        if self._rows == gk.shape[2]:
            return torch.cat([_heads_last(part) for part in (gq, gk, gv)], dim=-1) @ self._w_qkv
        pulled = torch.cat([_heads_last(gk), _heads_last(gv)], dim=-1) @ self._w_qkv[width:]
        pulled[:, : self._rows] += _heads_last(gq) @ self._w_qkv[:width]
        return pulled

    def _split(self, joined: Tensor, parts: int) -> Tensor:
        """[K, N, parts H P] -> parts of [H, K, N, P]."""
        return joined.unflatten(-1, (parts, self._heads, -1)).permute(2, 3, 0, 1, 4).contiguous()

    def _scores(self, dq: Tensor, dk: Tensor) -> Tensor:
        """DQ K^T + Q dK^T as one product of twice the inner width, so that the large result is written once."""
        left = torch.cat([dq, self._q[:, None].expand_as(dq)], dim=-1)
        right = torch.cat([self._k[:, None].expand_as(dk), dk], dim=-1)
        return left @ right.mT


def _normed(weights: NormWeights | None, x: Tensor) -> tuple[Tensor, NormAt | None]:
    if weights is None:
        return x, None
    norm = NormAt(weights, x[:, None])
    return norm.output[:, 0], norm


def _times(columns: Tensor, shared: Tensor) -> Tensor:
    """[H, K, N, P] times [H, P, M], columns and rows as one axis, so that nothing is copied K times."""
    heads, num, rows, _ = columns.shape
    return (columns.reshape(heads, num * rows, -1) @ shared).reshape(heads, num, rows, -1)


def _products_into(to: Tensor, shared: Tensor, columns: Tensor, *, keep: int) -> None:
    """Put shared [H, R, N] times columns [H, K, N, P] into [H, K, R, P], on top of ``keep`` times what is there.

    One column at a time: broadcast products would copy the shared matrix for each.
    """
    for index in range(columns.shape[1]):
        to[:, index].baddbmm_(shared, columns[:, index], beta=keep)


def _heads_last(block: Tensor) -> Tensor:
    """[H, K, N, P] -> [K, N, H P]."""
    return block.permute(1, 2, 0, 3).flatten(2)
