from __future__ import annotations

import numpy as np
import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.probes.given_features import float_tensor, layer_tensor, refuse_non_finite


def test_an_array_is_copied_and_a_tensor_is_not():
    array, tensor = np.ones((2, 3)), torch.ones(2, 3)
    layer_tensor(array, name="X", layer=0).zero_()
    assert array.all()
    assert layer_tensor(tensor, name="X", layer=0) is tensor


def test_extended_precision_is_refused():
    with pytest.raises(InvalidInput, match=r"X must be floating point of at most 64 bits, got .*float128"):
        float_tensor(np.ones(2, dtype=np.longdouble), name="X")


def test_a_block_names_rows_by_their_number_in_the_whole():
    x = torch.tensor([[0.0], [float("nan")], [float("inf")]])
    with pytest.raises(InvalidInput, match=r"in at least 2 row\(s\) at layer 3, first in row 101"):
        refuse_non_finite(x, name="X", layer=3, first_row=100)


def test_values_whose_sum_overflows_are_still_finite():
    refuse_non_finite(torch.full((2, 2), 1.5e308, dtype=torch.float64), name="X", layer=0)


def test_infinities_that_cancel_are_found():
    x = torch.tensor([[float("inf"), -float("inf")], [0.0, 0.0]])
    with pytest.raises(InvalidInput, match="first in row 0"):
        refuse_non_finite(x, name="X_test", layer=None)


def test_chosen_rows_are_named_by_their_own_numbers():
    x = torch.tensor([[0.0], [float("nan")]])
    with pytest.raises(InvalidInput, match=r"in at least 1 row\(s\) at layer 0, first in row 9"):
        refuse_non_finite(x, name="X", layer=0, numbers=torch.tensor([3, 9]))


@pytest.mark.parametrize(
    ("x", "kind"),
    [
        (torch.ones(2, 3).to_sparse(), "layout torch.sparse_coo"),
        (torch.ones(2, 3, device="meta"), "meta tensor without values"),
    ],
)
def test_a_tensor_without_rows_of_values_is_refused(x, kind):
    with pytest.raises(InvalidInput, match=f"X at layer 1 must be a dense tensor, got a.*{kind}"):
        layer_tensor(x, name="X", layer=1)


def test_no_gradient_flows_through_features():
    assert not layer_tensor(torch.ones(2, 3, requires_grad=True), name="X", layer=0).requires_grad
