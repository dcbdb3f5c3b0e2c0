from __future__ import annotations

import pytest

from tests.support.report_results import combination, material
from vitgeom.errors import InvalidInput
from vitgeom.report.combination import Failure


def test_nothing_to_report_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one dataset × backbone"):
        material()


def test_a_pair_reported_twice_is_refused() -> None:
    with pytest.raises(InvalidInput, match="got twice: digits × nano_supervised"):
        material(combination(), failed=[Failure("digits", "nano_supervised", "why")])
