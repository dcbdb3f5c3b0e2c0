from __future__ import annotations

import pytest
import torch

from tests.oracles.dense_geometry import dense_geometry
from tests.support.matrices import orthonormal, planted, with_singular_values
from vitgeom.spectra.token_energy import importance, token_energy, token_spread


def test_energy_sums_to_the_number_of_directions_and_follows_the_tokens() -> None:
    v = orthonormal(40, 5, seed=0)
    energy = token_energy(v, 8)
    assert float(energy.sum()) == pytest.approx(5.0)
    order = torch.tensor([3, 1, 0, 2, 7, 6, 5, 4])
    permuted = v.reshape(8, 5, 5)[order].reshape(40, 5)
    assert torch.allclose(token_energy(permuted, 8), energy[order])


def test_importance_is_the_block_norm_at_full_rank() -> None:
    matrix = with_singular_values(planted(20)["slow"], rows=20, columns=30)
    _, sigma, vt = torch.linalg.svd(matrix, full_matrices=False)
    oracle = dense_geometry(matrix, num_tokens=6, rank=20)
    assert importance(vt.mT, sigma, 6).tolist() == pytest.approx(oracle.block_norms)
    assert importance(vt[:4].mT, sigma[:4], 6).tolist() == pytest.approx(
        dense_geometry(matrix, num_tokens=6, rank=4).importance
    )


def test_spread_by_hand_with_and_without_prefix() -> None:
    spread = token_spread(torch.tensor([9.0, 1, 3], dtype=torch.float64), num_prefix=1)
    assert spread.patches == pytest.approx(0.5)
    assert spread.all_tokens == pytest.approx(
        ((9 - 13 / 3) ** 2 + (1 - 13 / 3) ** 2 + (3 - 13 / 3) ** 2) ** 0.5 / 3**0.5 / (13 / 3)
    )


def test_no_patches_and_no_energy_have_no_spread() -> None:
    assert token_spread(torch.ones(2, dtype=torch.float64), num_prefix=2).patches is None
    assert token_spread(torch.zeros(2, dtype=torch.float64), num_prefix=0).all_tokens is None
