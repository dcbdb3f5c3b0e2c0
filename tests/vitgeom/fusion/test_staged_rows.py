from __future__ import annotations

import pytest
import torch

from vitgeom.fusion import staged_rows
from vitgeom.fusion.staged_rows import blocks, fits, kept, mapped, picked, release, staged
from vitgeom.probes.row_file import RowFile
from vitgeom.seeding import generator_for

X = torch.randn(23, 3, generator=generator_for(0, "x"))
NEEDED = 23 * 3 * 4 * staged_rows.SHARE


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(staged_rows, "BLOCK_BYTES", 8 * 3 * 5)  # five rows of three columns


def in_file(x: torch.Tensor) -> RowFile:
    file = staged(x.split(4), num_rows=len(x), width=x.shape[1], byte_budget=0, dtype=x.dtype)
    assert isinstance(file, RowFile)
    return file


def test_an_array_is_in_memory_exactly_while_its_share_of_the_budget_lasts():
    whole = staged(X.split(4), num_rows=23, width=3, byte_budget=NEEDED)
    assert isinstance(whole, torch.Tensor)
    assert torch.equal(whole, X)
    assert not fits(23, 3, byte_budget=NEEDED - 1)
    file = staged(X.split(4), num_rows=23, width=3, byte_budget=NEEDED - 1)
    assert isinstance(file, RowFile)
    assert torch.equal(file[:], X)


def test_what_is_in_memory_is_one_block_and_a_file_is_many():
    assert [where for where, _ in blocks(X)] == [slice(0, 23)]
    found = list(blocks(in_file(X)))
    assert [where.stop - where.start for where, _ in found] == [5, 5, 5, 5, 3]
    assert torch.equal(torch.cat([block for _, block in found]), X)


def test_a_function_of_rows_is_the_same_wherever_they_are():
    weight = torch.arange(23)

    def make(x, other, factor):
        return (x.double() - other) * factor[:, None]

    wanted = make(X, X.flip(0), weight)
    for first in (X, in_file(X)):
        for budget in (1 << 20, 0):
            found = mapped(make, first, X.flip(0), weight, width=3, byte_budget=budget, dtype=torch.float64)
            assert isinstance(found, RowFile) == (budget == 0)
            assert torch.equal(found[:], wanted)


def test_some_rows_by_mask_and_by_number():
    mask = torch.arange(23) % 3 != 1
    index = torch.tensor([[5, 0, 22], [5, 7, 1]])
    file = in_file(X)
    for rows in (X, file):
        assert torch.equal(kept(rows, mask)[:], X[mask])
        assert torch.equal(picked(rows, index), X[index])
    assert kept(file, torch.ones(23, dtype=torch.bool)) is file


def test_released_files_cannot_be_read_any_more():
    file = in_file(X)
    release(X, file)
    with pytest.raises(ValueError, match="closed file"):
        file[:]
    assert X.shape == (23, 3)
