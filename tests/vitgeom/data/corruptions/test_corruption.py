from __future__ import annotations

import numpy as np
import pytest

from vitgeom.data.corruptions.corruption import Corruption, per_side, require_severity, side_of
from vitgeom.errors import InvalidInput


def _corruption(**strengths: tuple[float, ...]) -> Corruption:
    return Corruption("toy", lambda pixels, generator, **strength: pixels, strengths)


def test_the_strength_of_a_severity_is_its_value_of_every_parameter():
    toy = _corruption(a=(1.0, 2.0, 3.0, 4.0, 5.0), b=(5.0, 4.0, 3.0, 2.0, 1.0))
    assert [toy.strength(severity) for severity in (1, 4)] == [{"a": 1, "b": 5}, {"a": 4, "b": 2}]


@pytest.mark.parametrize("severity", [0, 6, -1, True, 3.0, "3", None])
def test_other_severities_are_refused(severity):
    assert require_severity(5) == 5
    with pytest.raises(InvalidInput, match=r"severity must be one of 1, 2, 3, 4, 5 \(mild to strong\), got"):
        _corruption(a=(1.0, 2.0, 3.0, 4.0, 5.0)).strength(severity)


def test_strengths_need_one_value_per_severity_and_stay_as_they_are():
    with pytest.raises(InvalidInput, match="'a' of corruption 'toy' needs one value per severity, got 4"):
        _corruption(a=(1.0, 2.0, 3.0, 4.0))
    with pytest.raises(TypeError, match="does not support item assignment"):
        _corruption(a=(1.0, 2.0, 3.0, 4.0, 5.0)).strengths["a"] = (0.0,) * 5


def test_lengths_are_shares_of_the_shorter_side():
    assert per_side(224.0, 56.0) == (1.0, 0.25)
    assert side_of(np.zeros((30, 20, 3))) == 20
