"""What every decoder must satisfy, whatever it decodes: inherit and give the fixture ``bound``, a decoder at one image in float64."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor
from torch.func import jvp, vjp, vmap

from tests.oracles.central_differences import central_difference
from vitgeom.decoders import BoundDecoder
from vitgeom.errors import InvalidInput
from vitgeom.seeding import generator_for


def directions(like: Tensor, count: int, name: str) -> Tensor:
    """Return [count, ...] fixed random directions, in the dtype of ``like``."""
    drawn = torch.randn(count, *like.shape, generator=generator_for(0, name), dtype=torch.float64)
    return drawn.to(like.dtype)


class DecoderContract:
    """Inherit and give ``bound``."""

    step = 1e-6  # so small that hardly a ReLU changes sign on the way

    def test_it_is_a_bound_decoder(self, bound):
        assert isinstance(bound, BoundDecoder)
        assert bound.name
        assert not bound.features.requires_grad
        assert bound.features.dtype == torch.float64

    def test_forward_and_backward_derivatives_are_adjoint(self, bound):
        x = bound.features
        output, pull = vjp(bound, x)
        (v,) = directions(x, 1, "tangent")
        (u,) = directions(output, 1, "cotangent")
        pushed = jvp(bound, (x,), (v,))[1]
        forward, backward = (pushed * u).sum(), (pull(u)[0] * v).sum()
        assert pushed.norm() > 0
        assert abs(forward - backward) <= 1e-9 * pushed.norm() * u.norm()

    def test_the_derivative_is_the_limit_of_central_differences(self, bound):
        (v,) = directions(bound.features, 1, "difference")
        exact = jvp(bound, (bound.features,), (v,))[1]
        measured = central_difference(bound, bound.features, v, step=self.step)
        assert (exact - measured).norm() <= 5e-6 * exact.norm()  # rounding: 1e-16 |output| / step

    def test_many_tangents_at_once_are_each_alone(self, bound):
        x = bound.features
        tangents = directions(x, 3, "many")
        together = vmap(lambda v: jvp(bound, (x,), (v,))[1])(tangents)
        alone = torch.stack([jvp(bound, (x,), (v,))[1] for v in tangents])
        torch.testing.assert_close(together, alone, rtol=1e-9, atol=1e-11)

    def test_many_cotangents_at_once_are_each_alone(self, bound):
        output, pull = vjp(bound, bound.features)
        cotangents = directions(output, 3, "many back")
        together = vmap(lambda u: pull(u)[0])(cotangents)
        alone = torch.stack([pull(u)[0] for u in cotangents])
        torch.testing.assert_close(together, alone, rtol=1e-9, atol=1e-11)

    def test_calling_twice_gives_the_same_bits_and_changes_nothing(self, bound):
        before = bound.features.clone()
        assert torch.equal(bound(bound.features), bound(bound.features))
        assert torch.equal(bound.features, before)

    def test_no_gradient_reaches_a_weight(self, bound):
        assert not bound(bound.features).requires_grad

    def test_other_tokens_are_refused(self, bound):
        count, width = bound.features.shape
        with pytest.raises(InvalidInput, match=rf"must be \[{count}, {width}\], the tokens of one image"):
            bound(bound.features[:-1])
        with pytest.raises(InvalidInput, match=r"Give one image at a time: features\[0\]"):
            bound(bound.features[None])
        with pytest.raises(InvalidInput, match=r"are torch.float32 on cpu, the model is torch.float64"):
            bound(bound.features.float())
