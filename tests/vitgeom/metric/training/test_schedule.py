from __future__ import annotations

from itertools import pairwise

import pytest

from vitgeom.metric.training.schedule import rate_share


def test_up_in_a_line_and_down_along_half_a_cosine() -> None:
    shares = [rate_share(step, total=20, warm_up=0.2) for step in range(20)]
    assert shares[:4] == pytest.approx([0.25, 0.5, 0.75, 1.0])
    assert shares[4] == pytest.approx(1.0)
    assert shares[12] == pytest.approx(0.5)
    assert all(after < before for before, after in pairwise(shares[4:]))


def test_every_step_moves() -> None:
    for total in (1, 2, 3, 50):
        for warm_up in (0.0, 0.05, 0.99):
            assert all(0 < rate_share(step, total=total, warm_up=warm_up) <= 1 for step in range(total))
