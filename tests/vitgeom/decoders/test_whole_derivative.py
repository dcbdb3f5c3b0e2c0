from __future__ import annotations

import torch
from torch.func import jvp, vjp, vmap

from vitgeom.decoders.whole_derivative import WholeDerivative


def cube_in_part(x):
    return x.detach() * x * x


def cube(x):
    with WholeDerivative():
        return cube_in_part(x)


def test_a_detached_path_counts_in_both_directions_and_under_vmap():
    x, v = torch.tensor([2.0, -1.0]), torch.tensor([1.0, 3.0])
    assert torch.equal(cube(x), cube_in_part(x))
    torch.testing.assert_close(jvp(cube_in_part, (x,), (v,))[1], 2 * x * x * v)
    torch.testing.assert_close(jvp(cube, (x,), (v,))[1], 3 * x * x * v)
    torch.testing.assert_close(vjp(cube, x)[1](v)[0], 3 * x * x * v)
    many = torch.eye(2)
    torch.testing.assert_close(vmap(lambda t: jvp(cube, (x,), (t,))[1])(many), torch.diag(3 * x * x))


def test_outside_of_it_detach_is_what_it_was():
    x = torch.ones(2, requires_grad=True)
    with WholeDerivative():
        assert x.detach().requires_grad
    assert not x.detach().requires_grad
