"""Progress lines under a clock of our own."""

from __future__ import annotations

import pytest

from tasks.progress import Progress, duration, grouped
from tests.tasks.test_receipt import receipt


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def started(clock: Clock, lines: list[str], **options: object) -> Progress:
    fields = {"total_units": 14, "total_rows": 3594, "emit": lines.append, "clock": clock}
    return Progress("extract digits/nano_supervised", **{**fields, **options})


def test_the_line_says_done_total_rate_and_remaining_time() -> None:
    clock, lines = Clock(), []
    progress = started(clock, lines)
    for _ in range(7):
        clock.now += 1.0
        progress(receipt(rows=256))
    assert (
        lines[-1] == "extract digits/nano_supervised  6/14 ranges  1,536/3,594 images  256 images/s  ETA 8 s"
    )


def test_lines_keep_their_distance_and_the_last_one_always_comes() -> None:
    clock, lines = Clock(), []
    with started(clock, lines) as progress:
        for _ in range(56):
            clock.now += 0.25
            progress(receipt(rows=1))
    assert len(lines) == 7 + 1
    assert lines[-1] == "extract digits/nano_supervised  56/14 ranges  56/3,594 images  4 images/s  took 14 s"
    assert not any("\r" in line or "\n" in line for line in lines)


def test_cached_units_count_as_done_but_not_as_speed() -> None:
    clock, lines = Clock(), []
    progress = started(clock, lines)
    clock.now = 3.0
    progress(receipt(rows=1000, cached=True))
    assert lines == ["extract digits/nano_supervised  1/14 ranges  1,000/3,594 images"]
    progress.close()
    assert lines[-1].endswith("1,000/3,594 images  took 3 s")


def test_earlier_work_counts_as_done() -> None:
    clock, lines = Clock(), []
    progress = started(clock, lines, done_units=10, done_rows=2570)
    clock.now = 4.0
    progress(receipt(rows=256))
    assert lines == [
        "extract digits/nano_supervised  11/14 ranges  2,826/3,594 images  64 images/s  ETA 12 s"
    ]


def test_a_slow_start_does_not_spoil_the_forecast() -> None:
    clock, lines = Clock(), []
    progress = started(clock, lines, total_rows=100_000, total_units=1000)
    clock.now = 100.0
    progress(receipt(rows=10))
    for _ in range(60):
        clock.now += 1.0
        progress(receipt(rows=100))
    assert "  100 images/s  " in lines[-1]


def test_nothing_final_is_said_after_a_failure() -> None:
    clock, lines = Clock(), []
    with pytest.raises(KeyboardInterrupt), started(clock, lines):
        raise KeyboardInterrupt
    assert lines == []


def test_closing_twice_says_it_once() -> None:
    clock, lines = Clock(), []
    progress = started(clock, lines)
    progress.close()
    progress.close()
    assert len(lines) == 1


@pytest.mark.parametrize(
    ("value", "text"), [(0.0, "0"), (9.54, "9.5"), (212.4, "212"), (1234567, "1,234,567")]
)
def test_numbers_are_written_for_people(value: float, text: str) -> None:
    assert grouped(value) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(8.6, "9 s"), (200, "3 min 20 s"), (7500, "2 h 5 min"), (59.7, "1 min 0 s")]
)
def test_durations_are_written_for_people(seconds: float, text: str) -> None:
    assert duration(seconds) == text
