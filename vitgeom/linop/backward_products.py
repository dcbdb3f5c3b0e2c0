"""J^T U, on a graph that is built once.   N = tokens, D = width, M = outputs, K = vectors."""

from __future__ import annotations

from typing import Literal

import torch
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.linop.decoder_function import DecoderFunction
from vitgeom.linop.operand import rows

VjpPath = Literal["backward in a loop", "batched backward", "no dependence"]


class BackwardProducts:
    """Products with J^T; the graph of one evaluation is kept for all of them.

    On a CPU a loop over columns is cheapest, because it keeps fused attention; elsewhere columns go together where the decoder allows it.

    Args:
        function: The decoder at its features.
        width: Columns at once where they go together.

    Attributes:
        path: How products are computed; "no dependence": the output does not reach the features, and J^T is zero.
        failures: Why columns do not go together, where that was wanted.

    Raises:
        InvalidInput: The decoder cannot be differentiated backwards.
    """

    def __init__(self, function: DecoderFunction, *, width: int) -> None:
        self._width = width
        self.failures: tuple[str, ...] = ()
        with function.ready(), torch.enable_grad():
            self._leaf = function.features.clone().requires_grad_(True)
            try:
                self._output = function(self._leaf)
            except RuntimeError as error:
                raise _no_graph(error) from error
        self._function = function
        self.path = self._choose()

    def __call__(self, u_MK: Tensor) -> Tensor:
        """Return J^T U as [N D, K] for U [M, K]."""
        together = self.path == "batched backward"
        width = self._width if together else 1
        with self._function.ready():
            product = u_MK.new_zeros(self._leaf.numel(), u_MK.shape[1])
            if self.path == "no dependence":
                return product
            for start in range(0, u_MK.shape[1], width):
                chunk_KM = rows(u_MK[:, start : start + width])
                pulled = self._together(chunk_KM) if together else self._one(chunk_KM[0])
                product[:, start : start + width] = pulled.reshape(len(chunk_KM), -1).mT
        return product

    def _choose(self) -> VjpPath:
        if not self._output.requires_grad:
            return "no dependence"
        probe = torch.ones_like(self._output)
        try:
            with self._function.ready():
                self._one(probe)
        except RuntimeError as error:
            raise _no_graph(error) from error
        if self._leaf.device.type == "cpu":
            return "backward in a loop"
        try:
            with self._function.ready():
                self._together(probe[None])
        except RuntimeError as error:
            self.failures = (str(error).split("\n", 1)[0],)
            return "backward in a loop"
        return "batched backward"

    def _one(self, u_M: Tensor) -> Tensor:
        (pulled,) = torch.autograd.grad(
            self._output, self._leaf, u_M, retain_graph=True, materialize_grads=True
        )
        return pulled

    def _together(self, u_KM: Tensor) -> Tensor:
        (pulled,) = torch.autograd.grad(
            self._output, self._leaf, u_KM, retain_graph=True, is_grads_batched=True, materialize_grads=True
        )
        return pulled


def _no_graph(error: RuntimeError) -> Exception:
    if isinstance(error, torch.OutOfMemoryError):
        return error
    reason = str(error).strip().split("\n", 1)[0].rstrip(".")
    return InvalidInput(
        f"decoder cannot be differentiated backwards: {reason}. Replace that operation; weights made under torch.inference_mode must be "
        "cloned outside of it, and activation checkpointing switched off."
    )
