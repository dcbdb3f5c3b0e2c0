"""Progress as plain log lines: done, total, rate and remaining time; no carriage returns, no terminal needed."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

from tasks.receipt import Receipt

WINDOW_SECONDS = 30.0
"""The rate is that of the last half minute, so that a slow start does not spoil the forecast."""


class Progress:
    """Counts receipts and says at most every ``every`` seconds how far the work is.

    Pass it as ``on_receipt``; call ``close`` at the end, or use it as a context manager, which closes only after success.
    """

    def __init__(
        self,
        label: str,
        *,
        total_units: int,
        total_rows: int,
        emit: Callable[[str], None],
        done_units: int = 0,
        done_rows: int = 0,
        units: str = "ranges",
        rows: str = "images",
        every: float = 2.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start counting.

        Args:
            label: What is done, for example ``"extract digits/nano_supervised"``.
            total_units: Units of the whole work, including those that were done before.
            total_rows: Rows of the whole work.
            emit: Receives each line, for example ``logger.info``.
            done_units: Units that an earlier run finished.
            done_rows: Their rows.
            units: Word for units.
            rows: Word for rows.
            every: Least seconds between two lines.
            clock: Seconds from any fixed origin.
        """
        self._label, self._emit, self._every, self._clock = label, emit, every, clock
        self._total_units, self._total_rows = total_units, total_rows
        self._units, self._rows = units, rows
        self._done_units, self._done_rows = done_units, done_rows
        self._computed = 0
        self._began = self._last_line = clock()
        self._window: deque[tuple[float, int]] = deque([(self._began, 0)])
        self._closed = False

    def __call__(self, receipt: Receipt) -> None:
        """Count one finished unit."""
        now = self._clock()
        self._done_units += 1
        self._done_rows += receipt.rows
        if not receipt.cached:
            self._computed += receipt.rows
            self._window.append((now, self._computed))
            while len(self._window) > 2 and self._window[1][0] < now - WINDOW_SECONDS:
                self._window.popleft()
        if now - self._last_line >= self._every:
            self._last_line = now
            self._emit(self._line())

    def close(self) -> None:
        """Say the final line, once."""
        if self._closed:
            return
        self._closed = True
        seconds = self._clock() - self._began
        rate = (
            f"{grouped(self._computed / seconds)} {self._rows}/s  " if self._computed and seconds > 0 else ""
        )
        self._emit(f"{self._counts()}  {rate}took {duration(seconds)}")

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        if kind is None:
            self.close()

    def _counts(self) -> str:
        done_rows, total_rows = grouped(self._done_rows), grouped(self._total_rows)
        return f"{self._label}  {self._done_units}/{self._total_units} {self._units}  {done_rows}/{total_rows} {self._rows}"

    def _line(self) -> str:
        (began, before), (now, after) = self._window[0], self._window[-1]
        if after == before or now <= began:
            return self._counts()
        rate = (after - before) / (now - began)
        remaining = (self._total_rows - self._done_rows) / rate
        return f"{self._counts()}  {grouped(rate)} {self._rows}/s  ETA {duration(remaining)}"


def grouped(value: float) -> str:
    """Write a number as the report does, ``1,797``; one decimal below 10 unless it is whole."""
    if round(value, 1) < 10 and value != int(value):
        return f"{value:.1f}"
    return f"{round(value):,}"


def duration(seconds: float) -> str:
    """Write seconds as ``9 s``, ``3 min 20 s`` or ``2 h 5 min``."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
