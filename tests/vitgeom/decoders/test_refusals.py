from __future__ import annotations

import pytest
import torch

from vitgeom.decoders.refusals import check_features, check_finite, check_layer
from vitgeom.decoders.trunk import BackboneTrunk
from vitgeom.errors import InvalidInput


def test_every_layer_of_the_model_passes(nano):
    for layer in range(13):
        check_layer(layer, trunk=BackboneTrunk(nano), name="x")


@pytest.mark.parametrize("layer", [1.0, "3", None])
def test_what_is_no_whole_number_is_no_layer(nano, layer):
    with pytest.raises(InvalidInput, match=r"must be a whole number in 0\.\.12"):
        check_layer(layer, trunk=BackboneTrunk(nano), name="x")


def test_what_is_no_tensor_is_refused_by_its_type(nano):
    with pytest.raises(InvalidInput, match=r"features of decoder 'x' must be a tensor \[65, 96\].*got list"):
        check_features([[1.0]], layer=3, trunk=BackboneTrunk(nano), name="x")


def test_the_first_value_that_is_not_finite_is_named():
    values = torch.ones(2, 3)
    check_finite(values, what="weights", way_out="Train again.")
    values[1, 0] = values[1, 2] = float("nan")
    with pytest.raises(
        InvalidInput, match=r"weights are not finite at \[1, 0\] \(first of 2\). Train again."
    ):
        check_finite(values, what="weights", way_out="Train again.")
