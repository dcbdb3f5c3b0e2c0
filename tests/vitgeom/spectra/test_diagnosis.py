from __future__ import annotations

import json

import torch

from tests.support.matrices import planted, with_singular_values
from vitgeom.linop import DenseOperator
from vitgeom.spectra import Diagnosis, diagnose


def made(matrix: torch.Tensor, **settings: int) -> Diagnosis:
    return diagnose(
        DenseOperator(matrix), rank=3, num_tokens=6, generator=torch.Generator().manual_seed(0), **settings
    )


def test_json_is_plain_and_leaves_out_the_right_vectors() -> None:
    found = made(with_singular_values(planted(20)["slow"], rows=20, columns=30), num_prefix=2)
    written = json.loads(json.dumps(found.to_json()))
    assert "right_vectors" not in written
    assert written["num_prefix"] == 2
    assert written["kappa"]["value"] == found.kappa.value
    assert len(written["token_energy"]) == 6
    assert written["products"] == {"jvp": 0, "vjp": 20, "total": 20}
    assert set(written["effective_ranks"]) == {"participation_ratio", "entropy_rank", "stable_rank", "r_90"}


def test_arrays_have_the_shapes_their_names_say() -> None:
    arrays = made(with_singular_values(planted(20)["slow"], rows=20, columns=30)).arrays()
    assert arrays["right_vectors"].shape == (6, 5, 3)
    assert arrays["singular_values"].shape == arrays["kappa_caps"].shape == arrays["residuals"].shape == (3,)
    for name in ("token_energy", "importance", "block_norms", "block_norms_stderr"):
        assert arrays[name].shape == (6,)
    assert arrays["density_values"].shape == arrays["density_counts"].shape == (20,)


def test_a_zero_jacobian_writes_null_not_zero() -> None:
    written = json.loads(json.dumps(made(torch.zeros(5, 30)).to_json()))
    assert written["kappa"] is None
    assert written["effective_ranks"]["r_90"] is None
    assert written["variation"] == {"all_tokens": None, "patches": None}
    assert "kappa_caps" not in written
    assert written["rank"] == 0
