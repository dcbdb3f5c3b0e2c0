"""The one check that counts and sizes from outside pass through."""

from __future__ import annotations

from vitgeom.errors import InvalidInput


def require_whole(name: str, value: object, *, at_least: int) -> int:
    """Return ``value`` if it is a whole number that is large enough.

    Args:
        name: The option, as the caller wrote it.
        value: What was given.
        at_least: The smallest legal value.

    Raises:
        InvalidInput: It is no integer, or too small.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < at_least:
        raise InvalidInput(f"option {name!r} must be a whole number >= {at_least}, got {value!r}.")
    return value
