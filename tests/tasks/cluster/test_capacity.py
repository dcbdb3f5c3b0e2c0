"""Whether a unit fits a machine."""

from __future__ import annotations

import pytest

from tasks.cluster.capacity import fits, shortage
from tasks.task_spec import Ask

GIB = 2**30
SMALL = {"CPU": 4.0, "memory": 8.0 * GIB}
LARGE = {"CPU": 16.0, "GPU": 1.0, "memory": 64.0 * GIB}


@pytest.mark.parametrize(
    ("ask", "expected"),
    [
        (Ask(4, 0, 8 * GIB), True),
        (Ask(4.5, 0, 0), False),
        (Ask(1, 1, 0), False),
        (Ask(1, 0, 8 * GIB + 1), False),
        (Ask(0, 0, 0), True),
    ],
)
def test_a_unit_fits_if_every_amount_does(ask: Ask, expected: bool) -> None:
    assert fits(ask, SMALL) is expected


def test_one_machine_must_hold_the_whole_unit() -> None:
    assert shortage(Ask(6, 0, GIB), [SMALL, SMALL]) is not None
    assert shortage(Ask(6, 0, GIB), [SMALL, LARGE]) is None


def test_the_reason_says_asked_available_and_the_way_out() -> None:
    reason = shortage(Ask(2, 1, 3 * GIB), [SMALL])
    assert reason == (
        "one unit asks for 2 CPU, 1 GPU, 3.0 GiB memory; available on 1 machine: 4 CPU, 0 GPU, 8.0 GiB memory. "
        "Ask for less (threads, batch_size, device) or give the cluster a machine that is large enough."
    )


def test_many_machines_are_not_all_listed() -> None:
    reason = shortage(Ask(99, 0, 0), [SMALL] * 30)
    assert reason is not None
    assert "on 30 machines" in reason
    assert "and 26 more" in reason


def test_a_cluster_without_machines_is_said_so() -> None:
    assert "no machine that is alive" in (shortage(Ask(1, 0, 0), []) or "")
