from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
import torch

from vitgeom.backbones.pickles import load_pickle
from vitgeom.errors import InvalidInput

UNREADABLE = r"file '.*w\.pth' cannot be read as a checkpoint: "
CODE = r"w\.pth' holds more than tensors, and code from a file is never run"


class Dangerous:
    """Would create a file if its pickle were executed."""

    def __reduce__(self):
        return (Path.touch, (Path("executed"),))


def save(path, content, *, how):
    if how == "pickle":
        path.write_bytes(pickle.dumps(content, protocol=2))
    elif how == "pickle 4":
        path.write_bytes(pickle.dumps(content, protocol=4))
    else:
        torch.save(content, path, _use_new_zipfile_serialization=how == "zip")
    return path


@pytest.mark.parametrize("how", ["zip", "legacy"])
def test_both_formats_of_torch_are_read(tmp_path, how):
    content = load_pickle(save(tmp_path / "w.pth", {"a": torch.ones(2)}, how=how))
    assert content["a"].tolist() == [1, 1]


@pytest.mark.parametrize("how", ["zip", "legacy", "pickle", "pickle 4"])
def test_code_is_told_apart_and_never_run(tmp_path, how):
    path = save(tmp_path / "w.pth", {"a": torch.ones(1), "hook": Dangerous()}, how=how)
    with pytest.raises(InvalidInput, match=CODE):
        load_pickle(path)
    assert not Path("executed").exists()


@pytest.mark.parametrize("content", [torch.nn.Linear(2, 2), {"loss": np.float64(1)}])
def test_objects_of_other_classes_are_code_too(tmp_path, content):
    with pytest.raises(InvalidInput, match=CODE):
        load_pickle(save(tmp_path / "w.pth", content, how="zip"))


def noise(seed):
    return np.random.default_rng(seed).bytes(500)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "it is empty"),
        (b"hello" * 100, "its bytes are not what torch.save writes"),
        (b"not weights at all" * 50, "its bytes are not what torch.save writes"),
        (pickle.dumps({"a": 1}, protocol=4), "it is a pickle of protocol 4, which is not read"),
        *((noise(seed), "its bytes are not what torch.save writes") for seed in range(40)),
        (b"\x80\xbc" + noise(0), "its bytes are not what torch.save writes"),
        (b"PK\x03\x04" + noise(0), "PytorchStreamReader failed"),
    ],
)
def test_what_is_no_checkpoint_is_refused_with_the_reason(tmp_path, content, reason):
    """Warnings are errors in these tests: torch's own remarks do not come through."""
    (tmp_path / "w.pth").write_bytes(content)
    with pytest.raises(InvalidInput, match=f"{UNREADABLE}{reason}.*\\. Fetch or save it again"):
        load_pickle(tmp_path / "w.pth")


@pytest.mark.parametrize("how", ["zip", "legacy"])
def test_a_truncated_file_is_refused(tmp_path, how):
    path = save(tmp_path / "w.pth", {"a": torch.ones(100)}, how=how)
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(InvalidInput, match=UNREADABLE):
        load_pickle(path)


def test_a_folder_is_refused(tmp_path):
    (tmp_path / "w.pth").mkdir()
    with pytest.raises(InvalidInput, match=f"{UNREADABLE}.*Is a directory"):
        load_pickle(tmp_path / "w.pth")
