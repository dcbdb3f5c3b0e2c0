from __future__ import annotations

import pytest

from vitgeom.errors import InvalidInput
from vitgeom.spectra.regime import Thresholds, regime


@pytest.mark.parametrize(
    ("kappa", "variation", "outputs", "expected"),
    [
        (1.0, 3.0, 20, "structural"),
        (0.9, 0.6, 1000, "token_local"),
        (0.3, 0.6, 1000, "token_local"),
        (0.8, 0.1, 1000, "low_rank_delocalised"),
        (0.79, 0.1, 1000, "high_rank"),
        (0.79, None, 1000, "high_rank"),
        (None, None, 10, "undefined"),
    ],
)
def test_the_first_rule_that_applies_names_it(
    kappa: float | None, variation: float | None, outputs: int, expected: str
) -> None:
    found = regime(
        kappa=kappa, variation=variation, rank_90=50.0, outputs=outputs, rank=20, thresholds=Thresholds()
    )
    assert found.name == expected


def test_margins_are_distances_to_the_thresholds() -> None:
    found = regime(
        kappa=0.7,
        variation=0.1,
        rank_90=50.0,
        outputs=1000,
        rank=20,
        thresholds=Thresholds(kappa=0.6, variation=0.3),
    )
    assert found.kappa_margin == pytest.approx(0.1)
    assert found.variation_margin == pytest.approx(-0.2)
    assert found.rank_ratio == pytest.approx(2.5)
    assert found.to_json()["thresholds"] == {"kappa": 0.6, "variation": 0.3}


@pytest.mark.parametrize(("kappa", "variation"), [(0.0, 0.5), (1.0, 0.5), (0.5, 0.0), (0.5, float("nan"))])
def test_thresholds_without_two_sides_are_refused(kappa: float, variation: float) -> None:
    with pytest.raises(InvalidInput, match="must"):
        Thresholds(kappa=kappa, variation=variation)
