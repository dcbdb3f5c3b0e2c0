from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.spectra.token_layout import token_layout


class Stating(DenseOperator):
    num_tokens = 4
    num_prefix = 1


def test_given_numbers_win_over_stated_ones() -> None:
    operator = Stating(torch.ones(2, 12))
    assert (token_layout(operator).num_tokens, token_layout(operator).num_prefix) == (4, 1)
    given = token_layout(operator, num_tokens=6, num_prefix=0)
    assert (given.num_tokens, given.num_prefix, given.width) == (6, 0, 2)


def test_without_a_number_of_tokens_there_is_no_layout() -> None:
    with pytest.raises(InvalidInput, match="num_tokens is needed: DenseOperator with 12 columns"):
        token_layout(DenseOperator(torch.ones(2, 12)))


@pytest.mark.parametrize(
    ("tokens", "prefix", "message"),
    [
        (5, 0, "must divide the 12 columns"),
        (0, 0, "num_tokens must be"),
        (4, 5, "num_prefix must be at most 4"),
        (4, -1, "num_prefix must be"),
    ],
)
def test_a_layout_that_does_not_fit_is_refused(tokens: int, prefix: int, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        token_layout(DenseOperator(torch.ones(2, 12)), num_tokens=tokens, num_prefix=prefix)
