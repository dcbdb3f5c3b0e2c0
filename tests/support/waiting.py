"""Waiting for a condition, with a limit."""

from __future__ import annotations

import time
from collections.abc import Callable

LIMIT_SECONDS = 60.0


def wait_until(condition: Callable[[], bool], *, limit: float = LIMIT_SECONDS) -> None:
    """Return once a condition holds.

    Args:
        condition: Asked again and again.
        limit: Seconds after which the test fails.
    """
    deadline = time.monotonic() + limit
    while not condition():
        assert time.monotonic() < deadline, f"nothing happened within {limit:.0f} s"
        time.sleep(0.01)
