from __future__ import annotations

import json

import pytest
import torch

from tests.support.matrices import planted, with_singular_values
from vitgeom.errors import InvalidInput
from vitgeom.linop import DenseOperator
from vitgeom.spectra import diagnose
from vitgeom.spectra.dataset import diagnose_dataset


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def operators() -> list[DenseOperator]:
    sigma = planted(20)["slow"]
    return [
        DenseOperator((1 + i) * with_singular_values(sigma, rows=20, columns=30, seed=i)) for i in range(4)
    ]


def test_diagnoses_and_operators_give_the_same() -> None:
    settings = {"rank": 3, "num_tokens": 6}
    first = diagnose_dataset(operators(), generator=generator(), **settings)
    found = [diagnose(each, generator=generator(), **settings) for each in operators()]
    assert diagnose_dataset(found, generator=generator()).to_json() == first.to_json()
    assert first.products.total == 80


def test_means_spreads_and_quantiles_by_hand() -> None:
    found = diagnose_dataset(operators(), generator=generator(), rank=3, num_tokens=6)
    base = float((planted(20)["slow"] ** 2).sum())
    norm = found.figures["norm"]
    assert norm is not None
    assert norm.mean.value == pytest.approx(base * (1 + 4 + 9 + 16) / 4)
    assert norm.std == pytest.approx(base * float(torch.tensor([1.0, 4, 9, 16]).std()))
    assert norm.quantiles[2] == pytest.approx(base * 6.5)
    assert norm.mean.low < norm.mean.value < norm.mean.high
    kappa = found.figures["kappa"]
    assert kappa is not None
    assert kappa.std == pytest.approx(0.0, abs=1e-12)
    assert found.kappa_caps_R is not None
    assert float(found.kappa_caps_R[-1]) == pytest.approx(kappa.mean.value)
    assert found.regimes == {"high_rank": 4}


def test_undefined_figures_are_left_out_not_counted_as_zero() -> None:
    zero = DenseOperator(torch.zeros(20, 30, dtype=torch.float64))
    found = diagnose_dataset([*operators(), zero], generator=generator(), rank=3, num_tokens=6)
    assert found.images == 5
    assert found.figures["kappa"] is not None
    assert found.figures["kappa"].images == 4
    assert found.regimes["undefined"] == 1
    alone = diagnose_dataset([zero], generator=generator(), rank=3, num_tokens=6)
    assert alone.figures["kappa"] is None
    assert alone.kappa_caps_R is None
    json.dumps(alone.to_json())


def test_no_images_are_refused() -> None:
    with pytest.raises(InvalidInput, match="at least one diagnosis or operator"):
        diagnose_dataset([], generator=generator())
