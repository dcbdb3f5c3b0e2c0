from __future__ import annotations

from pathlib import Path

import pytest
import safetensors.torch
import torch

from vitgeom.backbones import checkpoint
from vitgeom.backbones.timm_models import build, convert_keys
from vitgeom.errors import InvalidInput


@pytest.fixture
def model():
    return build("test_vit", seed=0)


def put(state, model):
    checkpoint.put_state(
        state,
        model,
        convert=lambda tensors, target: convert_keys(tensors, target, family="vision_transformer"),
        source="w.pth",
        architecture="test_vit",
    )


class Dangerous:
    """Would create a file if its pickle were executed."""

    def __reduce__(self):
        return (Path.touch, (Path("executed"),))


@pytest.mark.parametrize("nesting", [None, "state_dict", "model", "teacher", "state_dict_ema"])
@pytest.mark.parametrize("prefix", ["", "module.", "_orig_mod.", "_orig_mod.module."])
def test_pickles_are_read_through_nesting_and_wrappers(tmp_path, nesting, prefix):
    state = {f"{prefix}a": torch.ones(2), f"{prefix}b": torch.zeros(1)}
    torch.save({nesting: state, "epoch": 3} if nesting else state, tmp_path / "w.pth")
    assert {name: tensor.tolist() for name, tensor in checkpoint.read_state(tmp_path / "w.pth").items()} == {
        "a": [1, 1],
        "b": [0],
    }


def test_safetensors_are_read_with_their_metadata(tmp_path):
    safetensors.torch.save_file(
        {"a": torch.ones(2)}, tmp_path / "w.safetensors", metadata={"architecture": "test_vit"}
    )
    assert checkpoint.read_state(tmp_path / "w.safetensors")["a"].tolist() == [1, 1]
    assert checkpoint.read_architecture(tmp_path / "w.safetensors") == "test_vit"


def test_a_config_beside_the_file_names_the_architecture(tmp_path):
    torch.save({"a": torch.ones(1)}, tmp_path / "w.pth")
    assert checkpoint.read_architecture(tmp_path / "w.pth") is None
    (tmp_path / "config.json").write_text('{"architecture": "test_vit2"}')
    assert checkpoint.read_architecture(tmp_path / "w.pth") == "test_vit2"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"{broken", "cannot be read as JSON"),
        (b"\xff\xfe", "cannot be read as JSON"),
        (b"[1]", "must hold an object whose 'architecture' is a name, got '\\[1\\]'"),
        (b'{"architecture": 3}', "must hold an object whose 'architecture' is a name, got '3'"),
    ],
)
def test_a_config_that_says_nothing_is_refused_by_name(tmp_path, content, message):
    torch.save({"a": torch.ones(1)}, tmp_path / "w.pth")
    (tmp_path / "config.json").write_bytes(content)
    with pytest.raises(InvalidInput, match=rf"file '.*config\.json' beside the checkpoint {message}"):
        checkpoint.read_architecture(tmp_path / "w.pth")


def test_code_in_a_file_is_never_run(tmp_path):
    torch.save({"a": torch.ones(1), "hook": Dangerous()}, tmp_path / "w.pth")
    with pytest.raises(InvalidInput, match="holds more than tensors, and code from a file is never run"):
        checkpoint.read_state(tmp_path / "w.pth")
    assert not Path("executed").exists()


@pytest.mark.parametrize("name", ["w.pth", "w.safetensors"])
@pytest.mark.parametrize("content", [b"", b"not weights at all" * 50])
def test_damaged_files_are_refused(tmp_path, name, content):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(
        InvalidInput, match=r"w\.(pth|safetensors)' cannot be read as a checkpoint: .*[a-z]\. Fetch or save"
    ):
        checkpoint.read_state(tmp_path / name)


def test_a_truncated_download_is_refused(tmp_path):
    safetensors.torch.save_file({"a": torch.ones(1000)}, tmp_path / "w.safetensors")
    whole = (tmp_path / "w.safetensors").read_bytes()
    (tmp_path / "w.safetensors").write_bytes(whole[:-100])
    with pytest.raises(InvalidInput, match="cannot be read as a checkpoint"):
        checkpoint.read_state(tmp_path / "w.safetensors")
    with pytest.raises(InvalidInput, match="cannot be read as a checkpoint"):
        checkpoint.read_architecture(tmp_path / "w.safetensors")


@pytest.mark.parametrize("content", [{}, {"epoch": 3}, [1, 2]])
def test_files_without_tensors_are_refused(tmp_path, content):
    torch.save(content, tmp_path / "w.pth")
    with pytest.raises(InvalidInput, match="holds no tensors"):
        checkpoint.read_state(tmp_path / "w.pth")


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match=r"there is no checkpoint file '.*nope\.pth'"):
        checkpoint.read_state(tmp_path / "nope.pth")


def test_weights_arrive_exactly(model):
    other = build("test_vit", seed=1).state_dict()
    put({**other, "head.weight": torch.zeros(5, 64)}, model)
    assert all(torch.equal(tensor, other[name]) for name, tensor in model.state_dict().items())


def test_another_architecture_is_refused_with_the_first_keys(model):
    with pytest.raises(
        InvalidInput,
        match=r"does not fit architecture='test_vit': pos_embed is \[1, 101, 96\] there and \[1, 101, 64\] here; .*blocks\.0\.norm1.*\(and \d+ more\)",
    ):
        put(build("test_vit3", seed=0).state_dict(), model)


def test_a_missing_and_an_extra_tensor_are_named(model):
    state = dict(model.state_dict())
    del state["blocks.3.norm1.weight"]
    state["blocks.9.norm1.weight"] = torch.ones(64)
    with pytest.raises(
        InvalidInput,
        match=r"blocks\.3\.norm1\.weight is missing; blocks\.9\.norm1\.weight is not part of the model\. Name",
    ):
        put(state, model)


def test_a_mismatch_leaves_the_model_as_it_was(model):
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    with pytest.raises(InvalidInput):
        put({**build("test_vit", seed=1).state_dict(), "norm.weight": torch.ones(3)}, model)
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())


def test_a_position_embedding_that_is_no_grid_is_refused(model):
    state = dict(model.state_dict())
    state["pos_embed"] = torch.zeros(1, 38, 64)
    with pytest.raises(InvalidInput, match="does not fit architecture='test_vit'"):
        put(state, model)


def test_weights_that_are_not_finite_are_refused(model):
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state["blocks.1.mlp.fc1.weight"][0, 0] = float("inf")
    with pytest.raises(InvalidInput, match=r"not finite in blocks\.1\.mlp\.fc1\.weight"):
        put(state, model)


@pytest.mark.parametrize("dtype", [torch.int8, torch.bool, torch.complex64])
def test_whole_numbers_in_place_of_weights_are_refused(model, dtype):
    state = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    state["blocks.1.mlp.fc1.weight"] = state["blocks.1.mlp.fc1.weight"].to(dtype)
    with pytest.raises(
        InvalidInput,
        match=rf"no real weights .*: blocks\.1\.mlp\.fc1\.weight is {dtype}\. Save it in float32",
    ):
        put(state, model)


def test_native_size_is_told_by_the_position_embedding(model):
    assert checkpoint.native_size({"pos_embed": torch.zeros(1, 26, 64)}, model) == (80, 80)
    assert checkpoint.native_size({"pos_embed": torch.zeros(1, 28, 64)}, model) is None
    assert checkpoint.native_size({}, model) is None


@pytest.mark.parametrize(
    ("name", "is_file"),
    [("a.pth", True), ("dir/vit", True), ("vit_small_patch16_224", False), ("vit.tag_in1k", False)],
)
def test_paths_and_names_are_told_apart(name, is_file):
    assert checkpoint.looks_like_file(name) is is_file
