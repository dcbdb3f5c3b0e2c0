from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.fusion.far_rows import refuse_overflow


def test_the_first_row_without_a_value_is_named_by_its_number_in_the_whole():
    out = torch.zeros(3, 2)
    out[1, 1] = torch.nan
    with pytest.raises(InvalidInput, match="overflow float32, first in row 21"):
        refuse_overflow(out, first_row=20)


def test_an_impossible_class_is_an_answer():
    refuse_overflow(torch.tensor([[0.0, -torch.inf]]), first_row=0)
