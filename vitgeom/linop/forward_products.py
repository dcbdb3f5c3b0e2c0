"""J V, many columns at a time.   N = tokens, D = width, M = outputs, K = vectors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

import torch
from torch import Tensor
from torch.func import jvp, vmap

from vitgeom.errors import InvalidInput
from vitgeom.linop.column_width import column_width
from vitgeom.linop.decoder_function import DecoderFunction
from vitgeom.linop.live_bytes import LiveBytes
from vitgeom.linop.operand import rows

JvpPath = Literal["vmap(jvp)", "jvp in a loop", "double backward"]
Function = Callable[[Tensor], Tensor]


def by_vmap(function: Function, x_ND: Tensor, v_KND: Tensor) -> Tensor:
    """Return J V as [K, M]; the function itself is evaluated once for all columns."""
    return vmap(lambda v_ND: jvp(function, (x_ND,), (v_ND,))[1])(v_KND)


def by_loop(function: Function, x_ND: Tensor, v_KND: Tensor) -> Tensor:
    """Return J V as [K, M]; the function is evaluated again for every column, so it may branch on its values."""
    return torch.stack([jvp(function, (x_ND,), (v_ND,))[1] for v_ND in v_KND])


def by_double_backward(function: Function, x_ND: Tensor, v_KND: Tensor) -> Tensor:
    """Return J V as [K, M]: u -> J^T u is linear, and its own transpose is J. Needs no forward derivatives."""
    with torch.enable_grad():
        x_ND = x_ND.clone().requires_grad_(True)
        output = function(x_ND)
        if not output.requires_grad:
            return output.new_zeros(len(v_KND), *output.shape)
        u_M = torch.zeros_like(output, requires_grad=True)
        (pulled_ND,) = torch.autograd.grad(output, x_ND, u_M, create_graph=True, materialize_grads=True)
        if not pulled_ND.requires_grad:
            return output.new_zeros(len(v_KND), *output.shape)
        # Zeros are not made up here: a backward that may run only once cuts u off, and must fail.
        columns = [torch.autograd.grad(pulled_ND, u_M, v_ND, retain_graph=True)[0] for v_ND in v_KND]
    return torch.stack(columns)


PATHS: dict[JvpPath, Callable[[Function, Tensor, Tensor], Tensor]] = {
    "vmap(jvp)": by_vmap,
    "jvp in a loop": by_loop,
    "double backward": by_double_backward,
}


class ForwardProducts:
    """Products with J by the first path that works, in chunks that keep to a byte budget.

    Args:
        function: The decoder at its features.
        max_bytes: Memory for what one chunk holds at once; one column is always taken.
        max_batch: Columns at once; None derives it from the budget.

    Attributes:
        path: How products are computed.
        failures: Why the paths before it do not work, one line each.
        column_bytes: What one column holds at most, the function itself included, as measured.
        width: Columns at once.

    Raises:
        InvalidInput: No path works.
    """

    def __init__(self, function: DecoderFunction, *, max_bytes: int, max_batch: int | None) -> None:
        self._function = function
        self.failures: tuple[str, ...] = ()
        self.path, self.column_bytes = self._first_that_works()
        self.width = column_width(
            self.column_bytes, max_bytes=max_bytes, max_batch=max_batch, device=function.features.device
        )

    def __call__(self, v_NK: Tensor) -> Tensor:
        """Return J V as [M, K] for V [N D, K]."""
        features, num_columns = self._function.features, v_NK.shape[1]
        with self._function.ready(forwards=True), torch.no_grad():
            product = features.new_empty(self._function.output.numel(), num_columns)
            for start in range(0, num_columns, self.width):
                chunk_NK = v_NK[:, start : start + self.width]
                chunk_KND = rows(chunk_NK).reshape(-1, *features.shape)
                product[:, start : start + self.width] = PATHS[self.path](
                    self._function, features, chunk_KND
                ).mT
        return product

    def _first_that_works(self) -> tuple[JvpPath, int]:
        probe = torch.ones_like(self._function.features)[None]
        for path, products in PATHS.items():
            meter = LiveBytes()
            try:
                with self._function.ready(forwards=True), torch.no_grad(), meter:
                    products(self._function, self._function.features, probe)
            except (RuntimeError, TypeError, ValueError) as error:
                if isinstance(error, torch.OutOfMemoryError):
                    raise
                self.failures += (f"{path}: {_first_sentence(error)}",)
            else:
                return path, meter.peak
        raise InvalidInput(
            f"decoder cannot be differentiated forwards. {' | '.join(self.failures)}. Replace the operation named there by one with "
            "derivatives (explicit matrix products for fused attention; no numpy, no activation checkpointing inside)."
        )


def _first_sentence(error: Exception) -> str:
    return str(error).strip().split("\n", 1)[0].rstrip(".")
