"""The Jacobian of a frozen decoder at one feature map, never formed.   N = tokens, D = width, M = outputs, K = vectors."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.adjoint_check import AdjointCheck, check_adjoint
from vitgeom.linop.backward_products import BackwardProducts
from vitgeom.linop.decoder_function import DecoderFunction
from vitgeom.linop.forward_products import ForwardProducts
from vitgeom.linop.operand import check_operand
from vitgeom.linop.output_metric import as_metric
from vitgeom.whole_numbers import whole_number

DEFAULT_MAX_BYTES = 2**30


class JacobianOperator:
    """J = dT/dF, [M, N D], at features F for a decoder T; with an output metric L, L J.

    v^T (J^T J) v = |J v|^2 is the metric that the task puts on features. Inputs are numbered token by token: entry d of token t is row
    t D + d. While it works, the decoder's modules are in evaluation mode with constant parameters and attention takes a path that has
    forward derivatives; afterwards everything is as it was. One evaluation's graph is kept for J^T, so weights must not change meanwhile.

    Cost of one product in evaluations of the decoder, on a CPU: J v about 1.5 to 2.2 in blocks of 5 and more, J^T u about 1.2 to 1.5.
    Building one costs about 15.

    Args:
        decoder: A function of [N, D] that returns one tensor of any shape, M entries in all.
        features: F, finite float32 or float64 [N, D]; copied.
        output_metric: L: None for the identity, a matrix [M', M] or an operator M' x M.
        max_bytes: Memory for what one block of columns of J V holds; one column is always taken, the graph comes on top.
        max_batch: Columns at once; default: as many as ``max_bytes`` allow, up to 8 on a CPU.
        num_prefix: Class and register tokens, first among the N; only passed on to those who look at tokens.
        check: Compare J, J^T and evaluations first. Without it nothing protects from a path that is hidden from differentiation.

    Attributes:
        num_prefix: As given.
        jvp_path: How J V is computed: "vmap(jvp)", "jvp in a loop" or "double backward".
        vjp_path: How J^T U is computed: "backward in a loop", "batched backward" or "no dependence".
        fallbacks: Why better paths were left, one line each; empty as a rule.
        column_bytes: Memory that one column of J V was found to hold.
        adjoint: What the check found; None without it.

    Raises:
        InvalidInput: Features or decoder cannot be used, as the message says; derivatives that do not fit each other or the decoder.
        NumericalFailure: Output or derivative is not finite.
    """

    def __init__(
        self,
        decoder: object,
        features: object,
        *,
        output_metric: object = None,
        max_bytes: object = DEFAULT_MAX_BYTES,
        max_batch: object = None,
        num_prefix: object = 0,
        check: bool = True,
    ) -> None:
        budget = whole_number("max_bytes", max_bytes, at_least=1)
        batch = None if max_batch is None else whole_number("max_batch", max_batch, at_least=1)
        function = DecoderFunction(decoder, features)
        self._function = function
        self.num_prefix = whole_number(
            "num_prefix", num_prefix, at_least=0, at_most=function.features.shape[0]
        )
        self._metric = as_metric(output_metric, function.output)
        self._forward = ForwardProducts(function, max_bytes=budget, max_batch=batch)
        self._backward = BackwardProducts(function, width=self._forward.width)
        self.jvp_path = self._forward.path
        self.vjp_path = self._backward.path
        self.fallbacks = self._forward.failures + self._backward.failures
        self.column_bytes = self._forward.column_bytes
        self.adjoint: AdjointCheck | None = (
            check_adjoint(function, self._forward, self._backward) if check else None
        )

    @property
    def shape(self) -> tuple[int, int]:
        """(M, N D), or (M', N D) with an output metric."""
        rows = self._metric.shape[0] if self._metric else self._function.output.numel()
        return rows, self._function.features.numel()

    @property
    def dtype(self) -> torch.dtype:
        """Of the features."""
        return self._function.features.dtype

    @property
    def device(self) -> torch.device:
        """Of the features."""
        return self._function.features.device

    @property
    def num_tokens(self) -> int:
        """N."""
        return int(self._function.features.shape[0])

    @property
    def features(self) -> Float[Tensor, "n d"]:
        """F, a copy."""
        return self._function.features.clone()

    @property
    def output(self) -> Float[Tensor, " m"]:
        """T(F), flattened, before any output metric; a copy."""
        return self._function.output.clone()

    @property
    def is_zero(self) -> bool:
        """Whether the output does not depend on the features at all: every product is zero.

        Raises:
            InvalidInput: The operator was built without its check.
        """
        if self.adjoint is None:
            raise InvalidInput("is_zero is known from the check only. Build the operator with check=True.")
        return self.adjoint.is_zero

    def matmat(self, v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "m k"]:
        """Return J V: K single JVPs, in blocks."""
        check_operand(v_NK, name="v_NK", length=self.shape[1], dtype=self.dtype, device=self.device)
        pushed = self._forward(v_NK)
        return self._metric.matmat(pushed) if self._metric else pushed

    def rmatmat(self, u_MK: Float[Tensor, "m k"]) -> Float[Tensor, "n k"]:
        """Return J^T U: K single VJPs."""
        check_operand(u_MK, name="u_MK", length=self.shape[0], dtype=self.dtype, device=self.device)
        return self._backward(self._metric.rmatmat(u_MK) if self._metric else u_MK)
