"""The one check that counts from outside pass through, whatever they count."""

from __future__ import annotations

from numbers import Integral

from vitgeom.errors import InvalidInput


def whole_number(
    name: str, value: object, *, at_least: int, at_most: int | None = None, way_out: str = ""
) -> int:
    """Return ``value`` as a plain integer if it is a whole number within its bounds; ``True`` and ``1.0`` are none.

    Args:
        name: The argument, as the caller would call it.
        value: What was given.
        at_least: The smallest legal value.
        at_most: The largest legal value; None for no bound.
        way_out: What the message ends with.

    Raises:
        InvalidInput: It is no integer, too small or too large.
    """
    end = f"; {way_out}" if way_out else ""
    if isinstance(value, bool) or not isinstance(value, Integral) or int(value) < at_least:
        raise InvalidInput(f"{name} must be a whole number >= {at_least}, got {value!r}{end}.")
    if at_most is not None and int(value) > at_most:
        raise InvalidInput(
            f"{name} must be at most {at_most:,}, got {int(value):,}{end or '. Give a smaller number'}."
        )
    return int(value)
