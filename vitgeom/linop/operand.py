"""The one check that operands of every operator pass through, and their columns as rows."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.errors import InvalidInput


def check_operand(
    operand: object, *, name: str, length: int, dtype: torch.dtype, device: torch.device
) -> None:
    """Refuse what is no block of vectors of the right length, dtype and device.

    Args:
        operand: What was given.
        name: What the caller calls it.
        length: Rows that it must have.
        dtype: Of the operator.
        device: Of the operator.

    Raises:
        InvalidInput: It is not [length, K] in that dtype on that device.
    """
    if not isinstance(operand, Tensor):
        raise InvalidInput(f"{name} must be a tensor [{length}, K], got {type(operand).__name__}.")
    if operand.ndim != 2 or operand.shape[0] != length:
        raise InvalidInput(
            f"{name} must be [{length}, K], one vector per column, got {list(operand.shape)}. "
            "Give one vector as v[:, None], and check whether matmat or rmatmat was meant."
        )
    if operand.dtype != dtype or operand.device.type != device.type:
        raise InvalidInput(
            f"{name} is {operand.dtype} on {operand.device}, the operator {dtype} on {device}. "
            f"Convert it with {name}.to(operator.device, operator.dtype)."
        )


def rows(v_NK: Float[Tensor, "n k"]) -> Float[Tensor, "k n"]:
    """Return the columns as the rows of a copy that is in no graph and, made outside of inference mode, may enter one.

    Args:
        v_NK: Columns.
    """
    return v_NK.detach().mT.clone(memory_format=torch.contiguous_format)
