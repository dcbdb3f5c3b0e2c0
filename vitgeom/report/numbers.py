"""Numbers as a reader sees them: shares in percent, intervals in words, bytes and seconds in fitting units.

Null is a word of the caller's choice, never ``NaN``.
"""

from __future__ import annotations

NONE = "none"
BYTE_UNITS = ("B", "kB", "MB", "GB", "TB", "PB")


def percent(share: float | None, *, missing: str = NONE) -> str:
    """Return a share in 0..1 as percent with one decimal.

    Args:
        share: The share, or ``None``.
        missing: What to show for ``None``.
    """
    if share is None:
        return missing
    text = f"{100 * share:.1f}"
    return f"{'0.0' if text == '-0.0' else text} %"


def points(difference: float | None, *, missing: str = NONE) -> str:
    """Return a difference of two shares in percentage points, always with its sign.

    Args:
        difference: The difference in -1..1, or ``None``.
        missing: What to show for ``None``.
    """
    if difference is None:
        return missing
    return f"{signed_points(difference)} points"


def signed_points(difference: float) -> str:
    """Return a difference of two shares in percentage points as a bare number with its sign; zero has none.

    Args:
        difference: The difference in -1..1.
    """
    text = f"{100 * difference:+.1f}"
    return "0.0" if text in ("-0.0", "+0.0") else text.replace("-", "−")


def counted(number: int, noun: str) -> str:
    """Return how many there are of something: "1 pair", "2 pairs".

    Args:
        number: How many.
        noun: In the singular.
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def size(num_bytes: int | None, *, missing: str = NONE) -> str:
    """Return bytes in the largest unit (powers of 1000) that leaves a number of at least 1.

    Args:
        num_bytes: How many, or ``None``.
        missing: What to show for ``None``.
    """
    if num_bytes is None:
        return missing
    amount, unit = float(num_bytes), 0
    while amount >= 999.95 and unit < len(BYTE_UNITS) - 1:
        amount, unit = amount / 1000, unit + 1
    return f"{amount:.0f} {BYTE_UNITS[0]}" if unit == 0 else f"{amount:.1f} {BYTE_UNITS[unit]}"


def duration(seconds: float | None, *, missing: str = NONE) -> str:
    """Return a time span as seconds below two minutes, as minutes and seconds or hours and minutes above.

    Args:
        seconds: How many, or ``None``.
        missing: What to show for ``None``.
    """
    if seconds is None:
        return missing
    if seconds < 120:
        return f"{seconds:.2f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 120 else f"{minutes // 60} h {minutes % 60:02d} min"


def scientific(number: float | None, *, missing: str = NONE) -> str:
    """Return a small number with two significant digits.

    Args:
        number: The number, or ``None``.
        missing: What to show for ``None``.
    """
    return missing if number is None else f"{number:.1e}"


def significant(number: float | None, *, missing: str = NONE) -> str:
    """Return a number with three significant digits, in full from 0.001 to a million.

    Args:
        number: The number, or ``None``.
        missing: What to show for ``None``.
    """
    if number is None:
        return missing
    size = abs(number)
    if size >= 1000 and float(f"{size:.3g}") < 1e6:
        text = f"{float(f'{number:.3g}'):,.0f}"
    elif size == 0 or 1e-3 <= size < 1000:
        text = f"{number:.3g}"
    else:
        text = f"{number:.1e}"
    return text.replace("-", "−")


def between(value: float, low: float, high: float) -> str:
    """Return ``0.45 (0.4 to 0.51)``; a value without spread is one number.

    Args:
        value: The middle.
        low: Lower end of its interval.
        high: Upper end.
    """
    if low == value == high:
        return significant(value)
    return f"{significant(value)} ({significant(low)} to {significant(high)})"


def short_time(seconds: float | None, *, missing: str = NONE) -> str:
    """Return a time of one small thing in micro- or milliseconds, or seconds, with three digits.

    Args:
        seconds: How many, or ``None``.
        missing: What to show for ``None``.
    """
    if seconds is None:
        return missing
    if seconds >= 1:
        return f"{seconds:.3g} s"
    return f"{1e6 * seconds:.3g} µs" if seconds < 1e-3 else f"{1e3 * seconds:.3g} ms"
