"""The regime decides what is trained, unless somebody asks for something else."""

from __future__ import annotations

from typing import get_args

import pytest

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.metric.choice import FOR_REGIME, LEARNERS, WHY, choose
from vitgeom.spectra.regime import Name


def test_every_regime_of_a_diagnosis_has_its_model_and_its_reason() -> None:
    assert FOR_REGIME.keys() == WHY.keys() == set(get_args(Name))
    assert {name for learners in FOR_REGIME.values() for name in learners} == set(LEARNERS)


@pytest.mark.parametrize("regime", FOR_REGIME)
def test_the_commonest_regime_decides(regime: str) -> None:
    others = {name: 1 for name in FOR_REGIME if name != regime}
    found = choose({**others, regime: 2}, has_head=True)
    assert (found.regime, found.learners, found.asked) == (regime, FOR_REGIME[regime], False)
    assert found.why.startswith(regime)


def test_what_is_asked_for_wins_and_the_report_says_so() -> None:
    found = choose({"token_local": 3}, has_head=True, asked=["spn", "importance"])
    assert found.learners == ("importance", "spn")
    assert "Asked for instead: importance, spn" in found.why
    assert "instead" not in choose({"token_local": 3}, has_head=True, asked=["importance"]).why


def test_bad_input_is_named() -> None:
    with pytest.raises(UnknownName, match="token_local"):
        choose({"token_locl": 1}, has_head=True)
    with pytest.raises(UnknownName, match="bottleneck"):
        choose({"high_rank": 1}, has_head=True, asked=["bottlenek"])
    with pytest.raises(InvalidInput, match="at least one image"):
        choose({"high_rank": 0}, has_head=True)


def test_without_a_head_a_network_takes_the_place_of_the_bottleneck() -> None:
    found = choose({"high_rank": 3}, has_head=False)
    assert found.learners == ("spn",)
    assert "has no head" in found.why
    asked = choose({"high_rank": 3}, has_head=False, asked=["bottleneck", "importance"])
    assert asked.learners == ("importance", "spn")
    assert choose({"token_local": 3}, has_head=False).learners == ("importance",)
