from __future__ import annotations

import dataclasses

import pytest

from tests.support.report_results import combination, one_layer
from vitgeom.errors import InvalidInput
from vitgeom.report.combination import Failure


def test_layers_are_counted_from_one() -> None:
    pair = combination(best_layer=4)
    assert pair.num_layers == 5
    assert pair.best is pair.layers[3]
    assert pair.num_test == 360
    assert one_layer().best.layer == 1


def test_labels_name_both_sides() -> None:
    assert combination().label == "digits × nano_supervised"
    assert Failure("a", "b", "c").label == "a × b"


@pytest.mark.parametrize("best_layer", [0, 6])
def test_best_layer_outside_is_refused(best_layer: int) -> None:
    with pytest.raises(InvalidInput, match=r"best_layer of digits × nano_supervised must be 1\.\.5"):
        dataclasses.replace(combination(), best_layer=best_layer)


def test_layers_with_a_gap_are_refused() -> None:
    pair = combination()
    with pytest.raises(InvalidInput, match="must have layers 1 to L"):
        dataclasses.replace(pair, layers=pair.layers[1:])
