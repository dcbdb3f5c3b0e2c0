from __future__ import annotations

import torch

from tests.support.matrices import orthonormal
from vitgeom.randnla.orthonormal import extend, fresh_block, orthogonality_error, orthonormal_columns


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def test_a_block_is_split_into_known_and_new() -> None:
    basis, block = orthonormal(30, 6, seed=0), torch.randn(30, 4, dtype=torch.float64, generator=generator())
    found = extend(basis, block, tolerance=1e-12)
    assert torch.allclose(basis @ found.known_KB + found.new_NC @ found.remainder_CB, block, atol=1e-13)
    assert orthogonality_error(torch.cat([basis, found.new_NC], dim=1)) < 1e-14


def test_repeated_and_known_directions_are_left_out() -> None:
    basis = orthonormal(30, 6, seed=0)
    one = torch.randn(30, 1, dtype=torch.float64, generator=generator())
    found = extend(basis, torch.cat([one, 2 * one, basis[:, :2]], dim=1), tolerance=1e-10)
    assert found.new_NC.shape == (30, 1)
    assert found.remainder_CB.shape == (1, 4)


def test_nearly_known_directions_stay_orthogonal_in_float32() -> None:
    basis = orthonormal(200, 20, seed=0).float()
    block = basis[:, :5] + 1e-5 * torch.randn(200, 5, generator=generator())
    found = extend(basis, block, tolerance=1e-7)
    assert found.new_NC.shape[1] == 5
    assert orthogonality_error(torch.cat([basis, found.new_NC], dim=1)) < 2e-6


def test_there_is_no_room_in_a_full_basis() -> None:
    basis = torch.eye(4, dtype=torch.float64)
    noisy = torch.randn(4, 3, dtype=torch.float64, generator=generator())
    assert extend(basis, noisy, tolerance=0.0).new_NC.shape == (4, 0)
    assert fresh_block(basis, 3, generator=generator()).shape == (4, 0)


def test_a_fresh_block_takes_the_room_that_is_left() -> None:
    basis = orthonormal(8, 6, seed=0)
    fresh = fresh_block(basis, 5, generator=generator())
    assert fresh.shape == (8, 2)
    assert orthogonality_error(torch.cat([basis, fresh], dim=1)) < 1e-14


def test_orthonormal_columns_keep_their_signs() -> None:
    q = orthonormal(10, 3, seed=1)
    assert torch.allclose(orthonormal_columns(q), q, atol=1e-14)


def test_the_error_of_a_bad_basis_is_seen() -> None:
    assert orthogonality_error(torch.ones(3, 2, dtype=torch.float64)) == 3.0
    assert orthogonality_error(torch.zeros(3, 0)) == 0.0


def test_directions_of_very_different_length_stay_orthogonal() -> None:
    basis, drawn = (
        orthonormal(200, 20, seed=0),
        torch.randn(200, 4, dtype=torch.float64, generator=generator()),
    )
    block = drawn * torch.tensor([1.0, 1e-4, 1e-8, 1e-11], dtype=torch.float64) + basis[:, :4]
    found = extend(basis, block, tolerance=1e-13)
    assert found.new_NC.shape[1] == 4
    assert orthogonality_error(torch.cat([basis, found.new_NC], dim=1)) < 1e-14
