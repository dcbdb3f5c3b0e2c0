from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
import torch
from safetensors.torch import load, save

from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput
from vitgeom.probes import FunctionLayers, LayerProbes, fit_probes


@pytest.fixture(scope="module")
def fitted():
    x, y = layered_features(120, 3, 6, 3, strength=1.0)
    names = np.array(["kite", "owl", "wren"])[y]
    return fit_probes(x[:80], names[:80], X_val=x[80:], y_val=names[80:], l2=(1e-3, 1e-1)), x


def test_logits_are_those_of_the_standardised_features(fitted):
    probes, x = fitted
    logits = probes.logits(x)
    assert logits.shape == (120, 3, 3)
    for layer in range(3):
        z = (x[:, layer].double() - probes.mean[layer]) / probes.std[layer]
        torch.testing.assert_close(
            logits[:, layer].double(), z @ probes.weight[layer] + probes.bias[layer], rtol=1e-6, atol=1e-6
        )


def test_predictions_are_original_ids(fitted):
    probes, x = fitted
    said = probes.predict(x)
    assert said.shape == (120, 3)
    assert set(said.flatten()) <= {"kite", "owl", "wren"}
    assert (said == probes.classes[probes.logits(x).argmax(dim=2).numpy()]).all()


def test_a_source_gives_the_same_as_a_tensor(fitted):
    probes, x = fitted
    source = FunctionLayers(lambda layer: x[:, layer], num_layers=3)
    assert torch.equal(probes.logits(source), probes.logits(x))


def test_a_source_may_give_arrays(fitted):
    probes, x = fitted

    class Own:
        num_layers = 3

        def __call__(self, layer):
            return x[:, layer].numpy()

    assert torch.equal(probes.logits(Own()), probes.logits(x))


def test_an_array_gives_the_same_as_a_tensor(fitted):
    probes, x = fitted
    assert torch.equal(probes.logits(x.numpy()), probes.logits(x))
    assert (probes.predict(x.numpy()) == probes.predict(x)).all()


def test_a_bad_row_is_named_with_its_layer(fitted):
    probes, x = fitted
    x = x.clone()
    x[17, 2, 3] = float("nan")
    with pytest.raises(InvalidInput, match=r"X must be finite, .* in 1 row\(s\) at layer 2, first in row 17"):
        probes.logits(x)


def test_what_holds_no_features_is_refused(fitted):
    probes, _ = fitted
    with pytest.raises(InvalidInput, match=r"X must be a tensor or a numpy array .* got list"):
        inspect.unwrap(LayerProbes.logits)(probes, [[[1.0]]])


def test_index_undoes_classes(fitted):
    probes, _ = fitted
    assert probes.index(["wren", "kite", "emu"]).tolist() == [2, 0, -1]


def test_parts_survive_safetensors_and_json(fitted):
    probes, x = fitted
    tensors, meta = load(save(probes.tensors())), json.loads(json.dumps(probes.meta()))
    again = LayerProbes.from_parts(tensors, meta)
    assert torch.equal(again.logits(x), probes.logits(x))
    assert (again.predict(x) == probes.predict(x)).all()
    assert again.meta() == probes.meta()
    for name, tensor in probes.tensors().items():
        assert torch.equal(again.tensors()[name], tensor)


def test_integer_classes_survive_too(fitted):
    probes, _ = fitted
    again = LayerProbes.from_parts(probes.tensors(), {**probes.meta(), "classes": [0, 1, 7]})
    assert again.classes.dtype == np.int64
    assert again.index([7, 1]).tolist() == [2, 1]


def test_no_rows_give_no_predictions(fitted):
    probes, x = fitted
    assert probes.predict(x[:0]).shape == (0, 3)


def test_other_layers_or_widths_are_refused(fitted):
    probes, x = fitted
    with pytest.raises(InvalidInput, match="X must have the 3 layers of the probes, got 2"):
        probes.logits(x[:, :2])
    with pytest.raises(InvalidInput, match="X must have the training width 6, got 5 at layer 0"):
        probes.logits(x[:, :, :5])


def test_missing_and_unknown_parts_are_refused(fitted):
    probes, _ = fitted
    tensors = probes.tensors()
    tensors["weigth"] = tensors.pop("weight")
    with pytest.raises(InvalidInput, match=r"missing \['weight'\], unknown \['weigth'\]"):
        LayerProbes.from_parts(tensors, probes.meta())
    with pytest.raises(InvalidInput, match=r"meta must hold exactly .* missing \['classes'\]"):
        LayerProbes.from_parts(probes.tensors(), {"best_layer": 0, "refit": False})


def by_rows(x):
    return FunctionLayers(num_layers=x.shape[1], read_rows=lambda layer, a, b: x[a:b, layer], num_rows=len(x))


def test_rows_give_the_same_as_whole_layers_a_block_at_a_time(fitted, monkeypatch):
    probes, x = fitted
    whole, said = probes.logits(x), probes.predict(x)
    monkeypatch.setattr("vitgeom.probes.layer_probes.chunk_rows", lambda **_: 50)
    torch.testing.assert_close(probes.logits(by_rows(x)), whole)
    assert (probes.predict(by_rows(x)) == said).all()


@pytest.mark.parametrize("block_rows", [None, 1, 50, 120, 500])
def test_blocks_of_logits_are_those_of_all_rows(fitted, block_rows):
    probes, x = fitted
    blocks = list(probes.logits_blocks(by_rows(x), block_rows=block_rows))
    assert [start for start, _ in blocks] == list(range(0, 120, block_rows or 120))
    torch.testing.assert_close(torch.cat([part for _, part in blocks]), probes.logits(x))


def test_blocks_need_a_row(fitted):
    probes, x = fitted
    with pytest.raises(InvalidInput, match="block_rows must be >= 1, got 0"):
        probes.logits_blocks(x, block_rows=0)


def test_a_bad_row_of_a_block_is_named_by_its_number_in_the_whole(fitted):
    probes, x = fitted
    x = x.clone()
    x[77, 1, 0] = float("inf")
    with pytest.raises(InvalidInput, match=r"at layer 1, first in row 77"):
        list(probes.logits_blocks(by_rows(x), block_rows=10))
