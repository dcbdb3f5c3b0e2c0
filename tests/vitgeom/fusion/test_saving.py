from __future__ import annotations

import json

import numpy as np
import pytest
import safetensors.torch
from safetensors import safe_open
from sklearn.exceptions import NotFittedError

from tests.contracts.fused_method import quick, shaped
from tests.support.fusion_data import TEST, TRAIN, evidence, part
from vitgeom.errors import CorruptData, InvalidInput, StoreError, UnknownName
from vitgeom.fusion import saving
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.fusion.methods import METHODS
from vitgeom.fusion.saving import load, save


@pytest.fixture
def stored(tmp_path):
    return save(LastLayerClassifier().fit_evidence(evidence()), tmp_path / "last.safetensors")


def rewritten(file, change, *, tensors=None):
    """The same file with a changed record, its checksum made right again."""
    with safe_open(file, framework="pt") as opened:
        record = json.loads(opened.metadata()["vitgeom"])
        kept = {name: opened.get_tensor(name) for name in opened.keys()}  # noqa: SIM118
    kept.update(tensors or {})
    record.pop("checksum")
    change(record)
    record["checksum"] = saving._checksum(record, kept)
    file.write_bytes(safetensors.torch.save(kept, metadata={"vitgeom": json.dumps(record)}))
    return file


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_survives_its_file(name, tmp_path):
    entry = METHODS[name]
    made, (x, y) = quick(entry, seed=2), part(TRAIN)
    fitted = made.fit(shaped(entry, x), y) if entry.several_backbones else made.fit_evidence(evidence())
    back = load(save(fitted, tmp_path / f"{name}.safetensors"))
    given = shaped(entry, part(TEST)[0])
    np.testing.assert_array_equal(back.predict_log_proba(given), fitted.predict_log_proba(given))
    assert type(back) is type(fitted)
    assert json.dumps(back.get_params()) == json.dumps(fitted.get_params())
    assert back.summary() == fitted.summary()
    assert back.num_parameters() == fitted.num_parameters()
    with pytest.raises(InvalidInput, match="training width"):
        back.predict(shaped(entry, part(TEST)[0][..., :-1]))


def test_labels_of_both_kinds_survive(tmp_path):
    x, y = part(TRAIN)
    for ids in (np.array([3, 5, 8, 13]), np.array(["a", "b", "c", "d"])):
        back = load(save(LastLayerClassifier().fit(x, ids[y]), tmp_path))
        assert back.classes_.tolist() == ids.tolist()
        assert back.predict(x).dtype.kind == ids.dtype.kind


def test_a_folder_gets_one_file_and_nothing_beside_it(tmp_path):
    fitted = LastLayerClassifier().fit_evidence(evidence())
    first = save(fitted, tmp_path)
    content = first.read_bytes()
    assert [one.name for one in tmp_path.iterdir()] == ["classifier.safetensors"]
    save(fitted, tmp_path)
    assert load(tmp_path).classes_.tolist() == [0, 1, 2, 3]
    assert len(first.read_bytes()) == len(content)


def test_what_is_not_there_or_not_fitted(tmp_path):
    with pytest.raises(NotFittedError, match="call fit"):
        save(LastLayerClassifier(), tmp_path)
    with pytest.raises(StoreError, match="there is no classifier at"):
        load(tmp_path / "none.safetensors")
    (tmp_path / "a_file").write_text("")
    with pytest.raises(StoreError, match="cannot be written"):
        save(LastLayerClassifier().fit_evidence(evidence()), tmp_path / "a_file" / "below")


def test_a_parameter_without_json_form_is_refused(tmp_path):
    fitted = LastLayerClassifier().fit_evidence(evidence())
    fitted.set_params(seed=object())
    with pytest.raises(InvalidInput, match="parameters must be numbers"):
        save(fitted, tmp_path)


def test_changed_bytes_are_noticed(stored, tmp_path):
    content = bytearray(stored.read_bytes())
    content[-1] ^= 1
    stored.write_bytes(content)
    with pytest.raises(CorruptData, match="does not match its checksum"):
        load(stored)
    (tmp_path / "text").write_text("no tensors")
    with pytest.raises(CorruptData, match="holds no classifier of vitgeom"):
        load(tmp_path / "text")


@pytest.mark.parametrize(
    ("change", "error", "words"),
    [
        ({"format": 2}, InvalidInput, "must have format 1, got 2"),
        ({"class": "LastLayerClasifier"}, UnknownName, "Did you mean 'LastLayerClassifier'"),
        ({"class": "LogitAverageClassifier"}, InvalidInput, "missing \\['temperature_'\\]"),
        (
            {"params": {"sed": 0}},
            InvalidInput,
            "params of LastLayerClassifier must be \\['seed'\\], got \\['sed'\\]",
        ),
        ({"classes": [0, 1, 2]}, InvalidInput, "weight must have shape \\[8, 3\\], got \\[8, 4\\]"),
        ({"widths": [8, 8, 7]}, InvalidInput, "mean must have shape \\[7\\], got \\[8\\]"),
        ({"meta": {}}, InvalidInput, "meta must hold exactly \\['layers'\\]"),
    ],
)
def test_files_of_another_version_or_kind_are_refused(stored, change, error, words):
    with pytest.raises(error, match=words):
        load(rewritten(stored, lambda record: record.update(change)))
