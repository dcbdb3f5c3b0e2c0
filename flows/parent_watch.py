"""A stage ends with the process that started it.

``dvc repro`` that is killed leaves its child running, and a second ``dvc repro`` would then work beside it. A process whose parent dies is
given another parent, which is looked for once a second; it then ends as if by SIGTERM, which keeps what is finished.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable

INTERVAL_SECONDS = 1.0
GRACE_SECONDS = 15.0


def end_with_parent(*, parent: int | None = None, interval: float = INTERVAL_SECONDS) -> None:
    """Watch the parent from a background thread for the rest of this process's life.

    Args:
        parent: Process id of the parent; the present one when None.
        interval: Seconds between two looks.
    """
    expected = os.getppid() if parent is None else parent
    threading.Thread(target=_watch, args=(expected, interval, _end), name="parent-watch", daemon=True).start()


def _watch(expected: int, interval: float, end: Callable[[], None]) -> None:
    while os.getppid() == expected:
        time.sleep(interval)
    end()


def _end() -> None:
    """Ask for an orderly end, and insist after a while: stored ranges survive either."""
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    os._exit(128 + signal.SIGTERM)
