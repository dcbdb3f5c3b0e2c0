"""The Jacobian of a backbone's own blocks, written out.   N = tokens, R = rows needed, D = width, M = outputs, K = columns.

The state of the point (normalised tokens, attention, slopes) is computed once; a product then costs about as much as a forward pass.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones import Backbone, BlockWeights, NormWeights
from vitgeom.errors import NumericalFailure
from vitgeom.linop.adjoint_check import AdjointCheck, check_adjoint
from vitgeom.linop.block_derivative import BlockAt
from vitgeom.linop.blocks_decoder import BlocksDecoder
from vitgeom.linop.column_width import column_width
from vitgeom.linop.decoder_function import DecoderFunction
from vitgeom.linop.jacobian import DEFAULT_MAX_BYTES
from vitgeom.linop.norm_derivative import NormAt
from vitgeom.linop.operand import check_operand, rows
from vitgeom.linop.surroundings import differentiable
from vitgeom.whole_numbers import whole_number

SAME = {torch.float32: 2e-5, torch.float64: 1e-10}


class BlocksJacobian:
    """dT/dF, [M, N D], for T = the rest of a backbone of plain pre-norm blocks; see ``blocks_jacobian`` for any backbone.

    With the class token as output the last block computes one query row and one MLP row only. Inputs are numbered token by token, as in
    ``JacobianOperator``; for L J or a head on top use ``ProductOperator``.

    Cost of one product in forward passes of the same blocks, on a CPU: J v and J^T u about 1.1 each. Memory: the state of the point, per
    block heads N^2 + (12 D + hidden) N numbers, and per column heads N^2 + (14 D + 2 hidden) N numbers; nothing depends on M.

    Args:
        backbone: Frozen.
        features: F, finite [N, D] in the backbone's dtype on its device; copied.
        start: First block, 0-based; F is what it sees.
        stop: One past the last block; None: all that there are.
        finish: Whether the norm after the last block is applied.
        readout: "cls", "patch_mean" or "tokens".
        max_bytes: Memory for what one block of columns holds; one column is always taken, the state comes on top.
        max_batch: Columns at once; default: as many as ``max_bytes`` allow, up to 8 on a CPU.
        check: Compare with the backbone's own output, both sides with each other and with evaluations.

    Attributes:
        jvp_path: "written out".
        vjp_path: "written out".
        fallbacks: Empty.
        column_bytes: What one column holds at most, by the formula above.
        adjoint: What the check found; None without it.

    Raises:
        OtherBlocks: A block has a part that is not written out.
        InvalidInput: Features, range, readout or sizes cannot be used.
        NumericalFailure: The written-out blocks do not give the backbone's own output.
    """

    jvp_path = "written out"
    vjp_path = "written out"
    fallbacks: tuple[str, ...] = ()

    def __init__(
        self,
        backbone: Backbone,
        features: object,
        *,
        start: int,
        stop: int | None = None,
        finish: bool = True,
        readout: str = "tokens",
        max_bytes: object = DEFAULT_MAX_BYTES,
        max_batch: object = None,
        check: bool = True,
    ) -> None:
        budget = whole_number("max_bytes", max_bytes, at_least=1)
        batch = None if max_batch is None else whole_number("max_batch", max_batch, at_least=1)
        decoder = BlocksDecoder(backbone, features, start=start, stop=stop, finish=finish, readout=readout)
        self._decoder, self._features = decoder, decoder.features
        self._rows = decoder.readout.rows(len(self._features))
        weights = backbone.block_weights(decoder.start, decoder.stop)
        self._linearise(weights, backbone.norm_weights() if finish else None)
        self.column_bytes = _bytes_of_a_column(weights, self._features)
        self._width = column_width(
            self.column_bytes, max_bytes=budget, max_batch=batch, device=self._features.device
        )
        self.adjoint: AdjointCheck | None = self._check() if check else None

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N D)."""
        return self._output.numel(), self._features.numel()

    @property
    def dtype(self) -> torch.dtype:
        """Of the features."""
        return self._features.dtype

    @property
    def device(self) -> torch.device:
        """Of the features."""
        return self._features.device

    @property
    def num_tokens(self) -> int:
        """N."""
        return len(self._features)

    @property
    def num_prefix(self) -> int:
        """Class and register tokens, first among the N."""
        return self._decoder.backbone.spec.layout.num_prefix

    @property
    def features(self) -> Float[Tensor, "n d"]:
        """F, a copy."""
        return self._features.clone()

    @property
    def output(self) -> Float[Tensor, " m"]:
        """T(F), a copy."""
        return self._output.clone()

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return J V: K single JVPs, in blocks."""
        check_operand(v_NK, name="v_NK", length=self.shape[1], dtype=self.dtype, device=self.device)
        return self._forward(v_NK)

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return J^T U: K single VJPs, in blocks."""
        check_operand(u_MK, name="u_MK", length=self.shape[0], dtype=self.dtype, device=self.device)
        return self._backward(u_MK)

    def _linearise(self, weights: Sequence[BlockWeights], norm: NormWeights | None) -> None:
        """Walk through the blocks once and keep what derivatives need."""
        with differentiable(self._features.device, forwards=False), torch.no_grad():
            x, self._blocks = self._features, list[BlockAt]()
            for index, block_weights in enumerate(weights):
                last = index == len(weights) - 1
                self._blocks.append(BlockAt(block_weights, x, rows=self._rows if last else len(x)))
                x = self._blocks[-1].output
            x = x[: self._rows]
            self._norm = None if norm is None else NormAt(norm, x)
            self._output = self._decoder.readout.read(x if self._norm is None else self._norm.output).clone()

    def _forward(self, v_NK: Tensor) -> Tensor:
        return self._in_chunks(v_NK, self._push, length=self.shape[0])

    def _backward(self, u_MK: Tensor) -> Tensor:
        return self._in_chunks(u_MK, self._pull, length=self.shape[1])

    def _in_chunks(self, operand: Tensor, product_of: Callable[[Tensor], Tensor], *, length: int) -> Tensor:
        with differentiable(self.device, forwards=False), torch.no_grad():
            product = self._features.new_empty(length, operand.shape[1])
            for first in range(0, operand.shape[1], self._width):
                chunk = operand[:, first : first + self._width]
                product[:, first : first + self._width] = product_of(rows(chunk)).mT
        return product

    def _push(self, v_KN: Tensor) -> Tensor:
        d = v_KN.reshape(-1, *self._features.shape)
        for block in self._blocks:
            d = block.push(d)
        d = d[:, : self._rows]
        return self._decoder.readout.read(d if self._norm is None else self._norm.push(d))

    def _pull(self, u_KM: Tensor) -> Tensor:
        num_tokens, width = self._features.shape
        g = self._decoder.readout.spread(u_KM, rows=self._rows, width=width)
        if self._norm is not None:
            g = self._norm.pull(g)
        for block in reversed(self._blocks):
            g = block.pull(g)
        if g.shape[1] < num_tokens:  # no block at all between the features and the class token
            g = torch.nn.functional.pad(g, (0, 0, 0, num_tokens - g.shape[1]))
        return g.flatten(1)

    def _check(self) -> AdjointCheck:
        function = DecoderFunction(self._decoder, self._features)
        scale = float(function.output.abs().max()) or 1.0
        difference = float((function.output - self._output).abs().max()) / scale
        if not difference <= SAME[self.dtype]:
            raise NumericalFailure(
                f"the written-out blocks of backbone {self._decoder.backbone.spec.name!r} differ from its own output by {difference:.1e} "
                f"(relative; bound {SAME[self.dtype]:.0e}). Use JacobianOperator, and switch narrow matrix products (TF32) off."
            )
        return check_adjoint(function, self._forward, self._backward)


def _bytes_of_a_column(weights: Sequence[BlockWeights], features: Tensor) -> int:
    """Return what one column holds at most, while the widest block is passed."""
    num_tokens, width = features.shape
    heads = max((block.attention.num_heads for block in weights), default=0)
    hidden = max((len(block.mlp.fc1.weight) for block in weights), default=0)
    return features.element_size() * num_tokens * (heads * num_tokens + 14 * width + 2 * hidden)
