from __future__ import annotations

import pytest

from vitgeom.recoverability import gap_closure


@pytest.mark.parametrize(("acc", "share"), [(0.8, 0.0), (0.9, 1.0), (0.85, 0.5), (0.7, -1.0)])
def test_share_of_the_way_to_the_oracle(acc, share):
    assert gap_closure(acc, 0.8, 0.9) == pytest.approx(share)


def test_no_gap_is_null():
    assert gap_closure(0.9, 0.9, 0.9) is None
