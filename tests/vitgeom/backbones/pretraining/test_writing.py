from __future__ import annotations

import json

import pytest
import torch
from safetensors import safe_open

from vitgeom.backbones import load_backbone
from vitgeom.backbones.embedded import ARCHITECTURES, DATA_CONFIG
from vitgeom.backbones.pretraining.masked import MaskedRecipe
from vitgeom.backbones.pretraining.writing import write_weights
from vitgeom.backbones.timm_models import build_plain
from vitgeom.errors import InvalidInput


@pytest.fixture
def model():
    return build_plain(ARCHITECTURES["nano_selfsup"], DATA_CONFIG, seed=0)


def write(model, file):
    write_weights(model, file, name="nano_selfsup", recipe=MaskedRecipe(seed=4), pictures={"scenes": "abc"})


def test_a_written_file_loads_without_further_words(model, tmp_path):
    write(model, tmp_path / "new" / "w.safetensors")
    backbone = load_backbone(tmp_path / "new" / "w.safetensors")
    assert backbone.spec.architecture == "nano_selfsup"
    for name, tensor in backbone.model.state_dict().items():
        assert torch.equal(tensor, model.state_dict()[name].half().float())


def test_the_record_names_everything_that_decided_the_weights(model, tmp_path):
    write(model, tmp_path / "w.safetensors")
    with safe_open(tmp_path / "w.safetensors", framework="pt") as file:
        record = file.metadata()
    assert record["command"] == "python -m vitgeom.backbones.pretraining masked"
    assert json.loads(record["recipe"])["seed"] == 4
    assert json.loads(record["pictures"]) == {"scenes": "abc"}


def test_the_same_weights_give_the_same_bytes(model, tmp_path):
    for name in ("a", "b"):
        write(model, tmp_path / name)
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_weights_beyond_half_precision_are_refused(model, tmp_path):
    with torch.no_grad():
        model.blocks[2].mlp.fc1.bias[0] = 1e6
    with pytest.raises(
        InvalidInput, match=r"'nano_selfsup' are not finite in half precision: blocks\.2\.mlp\.fc1\.bias"
    ):
        write(model, tmp_path / "w")
    assert not (tmp_path / "w").exists()
