from __future__ import annotations

import pytest
import torch

from tests.support.small_backbones import OTHER, PLAIN, small_backbone, tokens_of
from vitgeom.errors import InvalidInput
from vitgeom.linop import BlocksJacobian, JacobianOperator, LinearOperator, blocks_jacobian


def test_plain_blocks_are_written_out() -> None:
    backbone = small_backbone(PLAIN["plain"])
    operator = blocks_jacobian(backbone, tokens_of(backbone), start=1, readout="cls")
    assert isinstance(operator, BlocksJacobian)
    assert operator.jvp_path == "written out"


@pytest.mark.parametrize("kind", list(OTHER))
def test_other_blocks_are_differentiated_and_say_why(kind: str) -> None:
    settings, message = OTHER[kind]
    backbone = small_backbone(settings)
    operator = blocks_jacobian(backbone, tokens_of(backbone), start=1, readout="cls")
    assert isinstance(operator, JacobianOperator)
    assert isinstance(operator, LinearOperator)
    assert operator.jvp_path == "vmap(jvp)"
    with pytest.raises(InvalidInput, match=message):
        raise InvalidInput(operator.fallbacks[0])


def test_a_hook_that_changes_the_block_is_part_of_the_jacobian() -> None:
    plain, hooked = small_backbone(PLAIN["plain"]), small_backbone(PLAIN["plain"])
    hooked.model.blocks[2].register_forward_hook(lambda _module, _arguments, output: 3 * output)
    options = {"start": 2, "finish": False}
    v = torch.ones(7 * 12, 1, dtype=torch.float64)
    tripled = blocks_jacobian(hooked, tokens_of(hooked), **options).matmat(v)
    torch.testing.assert_close(tripled, 3 * blocks_jacobian(plain, tokens_of(plain), **options).matmat(v))


def test_wrong_input_is_no_reason_to_differentiate() -> None:
    backbone = small_backbone(PLAIN["plain"])
    with pytest.raises(InvalidInput, match="features have width 11, but backbone 'small' has 12"):
        blocks_jacobian(backbone, tokens_of(backbone)[:, :11], start=1)
