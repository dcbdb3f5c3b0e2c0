from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.probes.fold_weights import fold_weights

FOLD = torch.tensor([0, 2, 1, 1, 0])
TABLE = torch.tensor([[0.0, 1, 1], [1, 0, 1], [1, 1, 0]], dtype=torch.float64)
BASE = torch.tensor([1.0, 2, 0, 3, 1], dtype=torch.float64)


@pytest.mark.parametrize("base", [None, BASE])
def test_weights_are_those_of_the_matrix(base):
    weight = fold_weights(FOLD, table=TABLE, base=base)
    dense = TABLE[FOLD] * (1 if base is None else base[:, None])
    assert (weight.shape, len(weight), weight.fold.dtype) == ((5, 3), 5, torch.int16)
    assert torch.equal(weight[:], dense)
    assert torch.equal(weight[1:3], dense[1:3])
    assert torch.equal(weight.of(torch.tensor([2, 0]))[:], dense[:, [2, 0]])
    assert torch.equal(weight.of(torch.tensor([True, False, True]))[:], dense[:, [0, 2]])
    torch.testing.assert_close(weight.scaled()[:], dense / dense.mean(dim=0))


def test_a_problem_without_rows_is_refused():
    table = torch.tensor([[1.0, 0], [1, 0], [1, 0]], dtype=torch.float64)
    with pytest.raises(InvalidInput, match="rows of positive weight, got none in problem 1"):
        fold_weights(FOLD, table=table).scaled()


def test_a_fold_without_a_row_in_the_table_is_refused():
    with pytest.raises(InvalidInput, match=r"fold must hold numbers 0..1, .* got 0..2"):
        fold_weights(FOLD, table=TABLE[:2])


@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_weights_must_be_finite_and_not_negative(value):
    table, base = TABLE.clone(), BASE.clone()
    table[1, 1] = base[2] = value
    with pytest.raises(InvalidInput, match="table must be finite and non-negative"):
        fold_weights(FOLD, table=table)
    with pytest.raises(InvalidInput, match="base must be finite and non-negative"):
        fold_weights(FOLD, table=TABLE, base=base)


def test_a_base_of_another_length_is_refused():
    with pytest.raises(InvalidInput, match="base must have one weight per row, 5, got 4"):
        fold_weights(FOLD, table=TABLE, base=BASE[:4])


def test_no_folds_are_refused():
    with pytest.raises(InvalidInput, match=r"table must have 1..32767 folds, got 0"):
        fold_weights(FOLD, table=TABLE[:0])
