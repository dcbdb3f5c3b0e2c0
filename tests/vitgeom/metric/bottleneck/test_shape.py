from __future__ import annotations

import pytest

from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck.shape import BottleneckShape


def test_the_defaults_are_32_registers_of_128():
    shape = BottleneckShape(384, 1)
    assert (shape.latents, shape.slots, shape.directions) == (4096, 65, 512)
    assert BottleneckShape(384, registers=2, latent=3).directions == 6


@pytest.mark.parametrize(
    "name", ["token_width", "registers", "latent", "hidden", "blocks", "heads", "waves", "principal"]
)
@pytest.mark.parametrize("value", [0, -1, True])
def test_a_count_below_one_is_refused(name, value):
    with pytest.raises(InvalidInput, match=rf"{name} must be a whole number >= 1, got {value}"):
        BottleneckShape(**{"token_width": 384, name: value})


def test_no_prefix_is_a_layout_too():
    assert BottleneckShape(8, 0, heads=4, hidden=8).slots == 64
    with pytest.raises(InvalidInput, match="num_prefix must be a whole number >= 0"):
        BottleneckShape(8, -1)


@pytest.mark.parametrize(("hidden", "heads"), [(12, 8), (6, 2)])
def test_a_width_that_does_not_divide_is_refused(hidden, heads):
    with pytest.raises(InvalidInput, match=rf"hidden={hidden} must be a multiple of heads={heads} and of 4"):
        BottleneckShape(8, hidden=hidden, heads=heads)
