from __future__ import annotations

import pytest

from vitgeom.spectra.advice import advice
from vitgeom.spectra.regime import Thresholds, regime


def words(kappa: float | None, variation: float | None, *, outputs: int = 1000) -> str:
    verdict = regime(
        kappa=kappa, variation=variation, rank_90=None, outputs=outputs, rank=20, thresholds=Thresholds()
    )
    return advice(verdict, rank=20, kappa=kappa, variation=variation)


@pytest.mark.parametrize(
    ("kappa", "variation", "outputs", "phrase"),
    [
        (1.0, 0.1, 10, "by construction"),
        (0.9, 2.0, 1000, "importance head"),
        (0.95, 0.1, 1000, "subspace prediction network"),
        (0.2, 0.1, 1000, "bottleneck"),
        (None, None, 1000, "Jacobian is zero"),
    ],
)
def test_every_regime_has_its_next_step(
    kappa: float | None, variation: float | None, outputs: int, phrase: str
) -> None:
    assert phrase in words(kappa, variation, outputs=outputs)


def test_figures_come_first_and_closeness_last() -> None:
    assert words(0.95, 0.1).startswith("20 directions hold 95 % of the sensitivity")
    assert words(0.78, 0.1).endswith(
        "The captured share is close to the border: do not lean on this verdict."
    )
    assert "captured share and the variation" in words(0.78, 0.48)
    assert "border" not in words(0.95, 0.1)


def test_a_low_rank_that_would_do_as_well_is_told() -> None:
    assert "These 20 directions hold enough by themselves, too" in words(0.99, 0.8)
    assert "by themselves" not in words(0.3, 0.8)


def test_patches_that_carry_nothing_are_told() -> None:
    said = words(0.4, None)
    assert "No patch token carries any of it" in said
    assert "bottleneck" not in said
