"""Whether two operators can be combined: their dtype, device and the sizes that must meet."""

from __future__ import annotations

from vitgeom.errors import InvalidInput
from vitgeom.linop.protocol import LinearOperator


def check_operator(operator: object, *, name: str) -> LinearOperator:
    """Return the operator, or refuse what is none.

    Args:
        operator: What was given.
        name: What the caller calls it.

    Raises:
        InvalidInput: It does not follow the protocol.
    """
    if not isinstance(operator, LinearOperator):
        raise InvalidInput(
            f"{name} must be a linear operator (shape, dtype, device, matmat, rmatmat), got {type(operator).__name__}. "
            "Wrap a matrix as DenseOperator(matrix)."
        )
    return operator


def check_same_kind(first: LinearOperator, second: LinearOperator, *, names: tuple[str, str]) -> None:
    """Refuse two operators that multiply vectors of different dtype or on different devices.

    Args:
        first: One operator.
        second: The other.
        names: What the caller calls them.

    Raises:
        InvalidInput: They differ.
    """
    if first.dtype != second.dtype or first.device.type != second.device.type:
        raise InvalidInput(
            f"{names[0]} is {first.dtype} on {first.device}, {names[1]} {second.dtype} on {second.device}. "
            "Build both in one dtype on one device."
        )


def listed(shape: tuple[int, int]) -> str:
    """Return a shape as a reader writes it: ``3 x 5``."""
    return f"{shape[0]} x {shape[1]}"
