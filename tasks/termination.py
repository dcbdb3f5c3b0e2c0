"""SIGTERM as an exception, so that ``with`` blocks and ``finally`` run before the process ends."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


@contextmanager
def sigterm_raises() -> Iterator[None]:
    """Let SIGTERM raise ``SystemExit(143)`` in the main thread inside the block.

    Only where SIGTERM would otherwise kill the process at once: a handler that someone else set (Prefect's runner does) is
    left alone, and outside the main thread nothing can be set.
    """
    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGTERM) is not signal.SIG_DFL:
        yield
        return
    signal.signal(signal.SIGTERM, _raise)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _raise(number: int, frame: FrameType | None) -> None:
    raise SystemExit(128 + number)


def take_sigterm_back() -> None:
    """Put Python's own SIGTERM handler back in front of one that a native library has installed.

    Ray's core prints a stack, passes the signal on and aborts the process three seconds later, in the middle of any cleanup.
    Whatever handler Python knows (ours, Prefect's, none) is installed again. Outside the main thread nothing can be done.
    """
    handler = signal.getsignal(signal.SIGTERM)
    if handler is not None and threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)
