"""An engine that remembers how many units each of its calls had."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from tasks.engine import SerialEngine


class CountingEngine(SerialEngine):
    """Runs everything in this process; ``calls`` holds task and number of units."""

    def __init__(self) -> None:
        super().__init__(retries=0)
        self.calls: list[tuple[str, int]] = []

    def map(self, task_name: str, requests: Sequence[Any], **options: Any) -> list[Any]:
        self.calls.append((task_name, len(requests)))
        return super().map(task_name, requests, **options)
