from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.oracles import softmax_regression as oracle
from vitgeom.errors import InvalidInput
from vitgeom.probes.out_of_fold import out_of_fold
from vitgeom.probes.row_file import RowFile

FOLD = torch.randint(0, 3, (60,), generator=torch.Generator().manual_seed(0))
L2 = torch.tensor([0.01, 0.1], dtype=torch.float64)


def test_each_probe_is_the_fit_without_its_fold(small):
    x, y = small
    got = out_of_fold(x, y, fold=FOLD, num_classes=3, l2=L2, tol=1e-9)
    z = oracle.standardise(x.numpy())
    for fold in range(3):
        rest = (fold != FOLD).numpy()
        for strength, lam in enumerate(L2.tolist()):
            w, b = oracle.solve(z[rest], y.numpy()[rest], lam, num_classes=3)
            problem = got.problem(fold=fold, strength=strength)
            np.testing.assert_allclose(got.fit.weight[problem], w, atol=1e-5)
            np.testing.assert_allclose(got.fit.bias[problem], b, atol=1e-5)


def test_rows_get_the_logits_of_the_probe_that_never_saw_them(small):
    x, y = small
    got = out_of_fold(x, y, fold=FOLD, num_classes=3, l2=L2)
    logits = got.logits(x)
    for row in range(60):
        for strength in range(2):
            problem = got.problem(fold=int(FOLD[row]), strength=strength)
            said = got.fit.logits(x[row : row + 1], problem=problem)[0]
            torch.testing.assert_close(logits[row, strength], said)
    blocks = dict(got.logits_blocks(x, block_rows=25))
    assert list(blocks) == [0, 25, 50]
    torch.testing.assert_close(torch.cat(list(blocks.values())), logits)


def test_a_label_does_not_change_its_own_logits(small):
    x, y = small
    other = y.clone()
    other[FOLD == 1] = (other[FOLD == 1] + 1) % 3
    before, after = (
        out_of_fold(x, labels, fold=FOLD, num_classes=3, l2=L2, tol=1e-9).logits(x) for labels in (y, other)
    )
    torch.testing.assert_close(before[FOLD == 1], after[FOLD == 1], rtol=1e-5, atol=1e-6)
    assert (before[FOLD != 1] - after[FOLD != 1]).abs().max() > 0.1


def test_rows_in_a_file_give_the_same(small):
    x, y = small
    weight = torch.rand(60, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    settings = {"fold": FOLD, "num_classes": 3, "l2": L2, "sample_weight": weight, "tol": 1e-9}
    with RowFile(width=5, dtype=x.dtype) as file:
        file.append(x)
        streamed = out_of_fold(file, y, byte_budget=1, **settings)
        memory = out_of_fold(x, y, **settings)
        torch.testing.assert_close(streamed.fit.weight, memory.fit.weight, rtol=1e-6, atol=1e-8)
        blocks = torch.cat([part for _, part in streamed.logits_blocks(file, block_rows=7)])
        torch.testing.assert_close(blocks, memory.logits(x), rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize("fold", [torch.zeros(60).long(), torch.arange(60) % 2 * 2, torch.arange(60) % 2 + 1])
def test_folds_must_be_numbered_without_a_gap(small, fold):
    with pytest.raises(InvalidInput, match="fold must number at least 2 folds from 0 without a gap, got"):
        out_of_fold(*small, fold=fold, num_classes=3, l2=L2)


def test_every_row_needs_a_fold(small):
    with pytest.raises(InvalidInput, match="fold must have one number per row, 60, got 59"):
        out_of_fold(*small, fold=FOLD[:59], num_classes=3, l2=L2)


def test_rows_that_were_not_trained_on_are_refused(small):
    x, y = small
    got = out_of_fold(x, y, fold=FOLD, num_classes=3, l2=L2)
    with pytest.raises(InvalidInput, match=r"rows of the 60 that were trained on, got rows 50..64"):
        got.logits(x[:15], start=50)
