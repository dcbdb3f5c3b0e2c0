from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.bottleneck.conftest import small_bottleneck, small_joined
from vitgeom.errors import CorruptData, InvalidInput, StoreError
from vitgeom.metric import ImportanceHead, load, save
from vitgeom.metric.bottleneck import load_bottleneck


def test_it_comes_back_as_it_was(joined, tokens, tmp_path):
    vae = small_bottleneck(joined)
    vae.token_variance.fill_(0.7)
    again = load_bottleneck(save(vae, tmp_path / "vae.safetensors"), joined)
    assert not again.training
    assert again.config == vae.config
    assert torch.equal(again(tokens, grid=joined.grid), vae(tokens, grid=joined.grid))
    assert torch.equal(again.token_variance, vae.token_variance)


def test_another_head_or_backbone_is_refused(joined, tmp_path):
    file = save(small_bottleneck(joined), tmp_path / "vae.safetensors")
    with pytest.raises(InvalidInput, match="trained for head 'smooth'"):
        load_bottleneck(file, small_joined(seed=1))
    with pytest.raises(InvalidInput, match="trained for head 'smooth'"):
        load_bottleneck(file, small_joined(prefix=3))


def test_another_width_is_refused_by_name(joined, tmp_path):
    file = save(small_bottleneck(joined), tmp_path / "vae.safetensors")
    with pytest.raises(InvalidInput, match="token_width=24, got one with token_width=36"):
        load(file, token_width=24)


def test_another_model_is_refused(joined, tmp_path):
    file = save(ImportanceHead(8), tmp_path / "head.safetensors")
    with pytest.raises(InvalidInput, match="must hold a BottleneckVAE, got a ImportanceHead"):
        load_bottleneck(file, joined)


def test_a_missing_or_damaged_file_is_refused(joined, tmp_path):
    with pytest.raises(StoreError, match="there is no learned metric at"):
        load_bottleneck(tmp_path / "none", joined)
    file = save(small_bottleneck(joined), tmp_path / "vae.safetensors")
    content = bytearray(file.read_bytes())
    content[-3] ^= 1
    file.write_bytes(bytes(content))
    with pytest.raises(CorruptData, match="does not match its checksum"):
        load_bottleneck(file, joined)
