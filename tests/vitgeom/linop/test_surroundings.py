from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch.func import jvp

from vitgeom.linop.surroundings import differentiable

CPU = torch.device("cpu")


def attention(x: torch.Tensor) -> torch.Tensor:
    return F.scaled_dot_product_attention(x, x, x)


@pytest.mark.parametrize("before", [True, False])
def test_every_switch_comes_back_after_an_error(before: bool) -> None:
    kept = torch.backends.mha.get_fastpath_enabled()
    torch.backends.mha.set_fastpath_enabled(before)
    try:
        with pytest.raises(ZeroDivisionError):
            fails_inside()
        assert torch.backends.mha.get_fastpath_enabled() is before
        assert torch.backends.cuda.flash_sdp_enabled()
    finally:
        torch.backends.mha.set_fastpath_enabled(kept)


def fails_inside() -> None:
    with torch.inference_mode(), torch.autocast("cpu"), differentiable(CPU, forwards=True):
        assert not torch.is_inference_mode_enabled()
        assert not torch.is_autocast_enabled("cpu")
        assert not torch.backends.mha.get_fastpath_enabled()
        assert not torch.backends.cuda.flash_sdp_enabled()
        _ = 1 / 0


def test_attention_has_forward_derivatives_inside() -> None:
    x = torch.randn(1, 1, 3, 4, generator=torch.Generator().manual_seed(0))
    with differentiable(CPU, forwards=True):
        _, tangent = jvp(attention, (x,), (x,))
    assert bool(tangent.isfinite().all())
