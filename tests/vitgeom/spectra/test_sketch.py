from __future__ import annotations

from tests.vitgeom.spectra.sketches import sketch
from vitgeom.bootstrap import Interval


def test_a_norm_without_width_is_exact() -> None:
    assert sketch([4.0, 1.0]).exact
    assert not sketch([4.0, 1.0], norm=Interval(5.0, 4.9, 5.2)).exact
