from __future__ import annotations

import pytest
import torch

from vitgeom.backbones.embedded import ARCHITECTURES, DATA_CONFIG
from vitgeom.backbones.pretraining.initial import initialise, principal_filters, waves
from vitgeom.backbones.pretraining.patches import to_patches
from vitgeom.backbones.timm_models import build_plain


@pytest.fixture
def pictures():
    noise = torch.randn(40, 3, 8, 8, generator=torch.Generator().manual_seed(0))
    return torch.nn.functional.interpolate(noise, size=64, mode="bicubic")


def fresh(pictures, seed=0):
    model = build_plain(ARCHITECTURES["nano_selfsup"], DATA_CONFIG, seed=0)
    initialise(model, pictures, generator=torch.Generator().manual_seed(seed))
    return model


def test_filters_nearly_whiten_the_patches(pictures):
    patches = to_patches(pictures, side=8)
    weight, bias = principal_filters(patches, width=20, generator=torch.Generator().manual_seed(0))
    outputs = (patches @ weight.T + bias).flatten(0, 1)
    covariance = outputs.T @ outputs / len(outputs) / 0.09
    assert outputs.mean(0).abs().max() < 0.02
    eigenvalues = torch.linalg.eigvalsh(covariance)
    assert eigenvalues.max() < 1.01
    assert eigenvalues[-5:].min() > 0.9


def test_filters_keep_the_leading_components(pictures):
    """Oracle: the span of the filters is that of the right singular vectors of the centred patches."""
    rows = to_patches(pictures, side=8).flatten(0, 1)
    weight, _ = principal_filters(rows[None], width=6, generator=torch.Generator().manual_seed(0))
    _, _, vh = torch.linalg.svd(rows - rows.mean(0), full_matrices=False)
    basis = torch.linalg.qr(weight.T)[0]
    assert torch.linalg.svdvals(vh[:6] @ basis).min() > 0.99


def test_positions_are_all_different_and_bounded():
    table = waves(8, width=96)
    assert table.shape == (64, 96)
    assert table.abs().max() <= 1
    assert torch.cdist(table, table).fill_diagonal_(1.0).min() > 0.3


def test_attention_starts_near_the_identity(pictures):
    model = fresh(pictures)
    attention = model.blocks[3].attn
    query, key, value = attention.qkv.weight.detach().split(96)
    similarity = sum(query[start : start + 32].T @ key[start : start + 32] for start in (0, 32, 64))
    passed = attention.proj.weight.detach() @ value
    # The mean of the diagonal tells the identity's share from the noise, whose diagonal averages out.
    assert similarity.diagonal().mean() > 5 * similarity.flatten()[1:].view(95, 97)[:, :-1].mean().abs()
    assert similarity.diagonal().mean() > 0.3
    assert passed.diagonal().mean() == pytest.approx(-0.4, abs=0.05)


def test_the_generator_alone_decides(pictures):
    states = [fresh(pictures, seed).state_dict() for seed in (1, 1, 2)]
    assert all(torch.equal(tensor, states[1][name]) for name, tensor in states[0].items())
    assert not torch.equal(states[0]["blocks.0.attn.qkv.weight"], states[2]["blocks.0.attn.qkv.weight"])
