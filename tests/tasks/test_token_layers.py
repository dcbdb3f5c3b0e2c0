"""Layers named from 1 by a user are those from 0 of the library, or refused."""

from __future__ import annotations

import pytest

from tasks.token_layers import layers_from_zero
from tests.support.small_extraction import BACKBONE
from vitgeom.backbones import open_backbone
from vitgeom.backbones.spec import BackboneSpec
from vitgeom.errors import InvalidInput


@pytest.fixture(scope="module")
def spec() -> BackboneSpec:
    return open_backbone(BACKBONE).spec


def test_layers_count_from_zero_afterwards(spec: BackboneSpec) -> None:
    assert layers_from_zero((1, 7, 12), spec=spec) == (0, 6, 11)
    assert layers_from_zero((), spec=spec) == ()


@pytest.mark.parametrize("layer", [0, 13, -1])
def test_a_layer_that_is_not_there_is_refused_with_the_legal_range(spec: BackboneSpec, layer: int) -> None:
    with pytest.raises(
        InvalidInput, match=rf"names layer {layer}, but backbone 'nano_supervised' .* has the layers 1\.\.12"
    ):
        layers_from_zero((layer,), spec=spec)


@pytest.mark.parametrize("layers", [(2, 1), (3, 3)])
def test_layers_out_of_order_or_named_twice_are_refused(spec: BackboneSpec, layers: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"token_layers=\[\d, \d\] must rise from one to the next"):
        layers_from_zero(layers, spec=spec)
