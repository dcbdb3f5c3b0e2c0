from __future__ import annotations

import inspect

import numpy as np
import pytest
import torch
from sklearn.linear_model import LogisticRegression

from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.probes import L2_GRID, FunctionLayers, fit_probes
from vitgeom.probes.byte_budget import default_byte_budget
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET, STREAM_BYTE_BUDGET


@pytest.fixture(scope="module")
def data():
    x, y = layered_features(240, 4, 10, 3, strength=0.8)
    return {"X": x[:160], "y": y[:160], "X_val": x[160:], "y_val": y[160:]}


def fit(data, **changes):
    data = {**data, **changes}
    return fit_probes(data.pop("X"), data.pop("y"), **data)


def test_every_probe_is_certified_and_strengths_are_chosen_by_loss(data):
    probes = fit(data)
    assert probes.grad_norm.shape == (4, 9)
    assert (probes.grad_norm <= 1e-6).all()
    assert probes.converged.all()
    assert probes.chosen.tolist() == probes.val_loss.argmin(dim=1).tolist()
    torch.testing.assert_close(probes.chosen_l2, probes.l2_grid[probes.chosen])
    assert probes.marked == ()
    assert probes.l2_grid.tolist() == list(L2_GRID)


def test_the_best_layer_has_the_best_validation_accuracy(data):
    probes = fit(data)
    accuracy = (
        (torch.from_numpy(probes.predict(data["X_val"])) == data["y_val"][:, None]).double().mean(dim=0)
    )
    assert accuracy[probes.best_layer] == accuracy.max()
    torch.testing.assert_close(accuracy, probes.val_accuracy.gather(1, probes.chosen[:, None])[:, 0])


def test_predictions_are_those_of_a_loop_over_scikit_learn(data):
    probes = fit(data)
    agree = []
    for layer in range(4):
        x = data["X"][:, layer].double().numpy()
        mean, std = x.mean(axis=0), x.std(axis=0)
        peer = LogisticRegression(C=1 / (160 * float(probes.chosen_l2[layer])), tol=1e-8, max_iter=10_000)
        peer.fit((x - mean) / std, data["y"].numpy())
        theirs = peer.predict((data["X_val"][:, layer].double().numpy() - mean) / std)
        agree.append((theirs == probes.predict(data["X_val"])[:, layer]).mean())
    assert np.mean(agree) >= 0.998


def test_a_source_that_reads_one_layer_at_a_time_gives_the_same(data):
    reads = []

    def reader(x):
        def read(layer):
            reads.append(layer)
            return x[:, layer].contiguous()

        return FunctionLayers(read, num_layers=4)

    streamed = fit(data, X=reader(data["X"]), X_val=reader(data["X_val"]))
    whole = fit(data)
    assert torch.equal(streamed.weight, whole.weight)
    assert reads == [0, 0, 1, 1, 2, 2, 3, 3]


def test_arrays_give_the_same(data):
    whole = fit(data)
    arrays = fit({name: value.numpy() for name, value in data.items()})
    assert torch.equal(arrays.weight, whole.weight)


@pytest.mark.parametrize("name", ["X", "X_val"])
def test_what_holds_no_features_is_refused(data, name):
    given = {**data, name: None}
    with pytest.raises(InvalidInput, match=f"{name} must be a tensor or a numpy array .* got NoneType"):
        inspect.unwrap(fit_probes)(given.pop("X"), given.pop("y"), **given)


def test_labels_of_any_kind_give_the_same_probes(data):
    plain = fit(data)
    ids = np.array([0, 1, 7])
    odd = fit(data, y=ids[data["y"]], y_val=ids[data["y_val"]])
    names = np.array(["a cat", "b/dog", "ü"])
    text = fit(data, y=names[data["y"]].tolist(), y_val=names[data["y_val"]].tolist())
    assert torch.equal(odd.weight, plain.weight)
    assert torch.equal(text.weight, plain.weight)
    assert set(odd.predict(data["X_val"]).flatten()) <= {0, 1, 7}
    assert text.classes.tolist() == names.tolist()


def test_a_class_absent_from_validation_is_no_problem(data):
    keep = data["y_val"] != 1
    probes = fit(data, X_val=data["X_val"][keep], y_val=data["y_val"][keep])
    assert probes.weight.shape[2] == 3


def test_a_validation_class_that_training_never_showed_counts_as_wrong(data):
    keep = data["y"] != 1
    probes = fit(data, X=data["X"][keep], y=data["y"][keep])
    seen = (data["y_val"] != 1).double().mean()
    assert probes.classes.tolist() == [0, 2]
    assert (probes.val_accuracy <= seen).all()
    assert torch.isfinite(probes.val_loss).all()


def test_refit_uses_all_rows_and_says_so(data):
    probes, plain = fit(data, refit=True), fit(data)
    assert probes.refit
    assert torch.equal(probes.val_loss, plain.val_loss)
    assert not torch.equal(probes.weight, plain.weight)
    rows = torch.cat([data["X"], data["X_val"]]).double()
    torch.testing.assert_close(probes.mean, rows.mean(dim=0))


def test_sample_weights_reach_the_solver(data):
    half = (torch.arange(160) < 80).double()
    weighted = fit(data, sample_weight=half)
    cut = fit(data, X=data["X"][:80], y=data["y"][:80])
    torch.testing.assert_close(weighted.objective, cut.objective, rtol=1e-6, atol=1e-9)
    assert torch.equal(fit(data, sample_weight=half.numpy()).weight, weighted.weight)


def test_too_few_iterations_mark_layers_and_never_the_best(data):
    whole = fit(data, l2=(1e-7, 1.0))
    assert whole.best_layer == 3
    # One step fewer than the deepest layer's chosen probe takes: it stays unfinished, and the next best is chosen.
    steps = int(whole.iterations[3, whole.chosen[3]])
    assert (whole.iterations[:3] < steps).all()
    probes = fit(data, l2=(1e-7, 1.0), max_iter=steps - 1)
    assert probes.marked == (3,)
    assert probes.final_grad_norm[3] > 1e-6
    assert probes.val_accuracy[3].max() == whole.val_accuracy[3].max()
    assert probes.best_layer == 2


def test_nothing_converged_is_a_failure(data):
    with pytest.raises(NumericalFailure, match="none of the 4 layer probes converged"):
        fit(data, l2=(1e-7,), max_iter=1)


def test_one_layer_is_enough(data):
    probes = fit(data, X=data["X"][:, :1], X_val=data["X_val"][:, :1])
    assert probes.best_layer == 0


def test_inputs_are_left_alone(data):
    before = {name: value.clone() for name, value in data.items()}
    fit(data, refit=True)
    assert all(torch.equal(before[name], value) for name, value in data.items())


def test_one_class_only_is_refused(data):
    with pytest.raises(InvalidInput, match="y must hold at least 2 classes, got only 0"):
        fit(data, y=torch.zeros(160, dtype=torch.int64))


def test_an_empty_validation_set_is_refused(data):
    with pytest.raises(
        InvalidInput, match=r"y_val must hold at least 1 row, got 0.*split some training rows off"
    ):
        fit(data, X_val=data["X_val"][:0], y_val=[])


@pytest.mark.parametrize("name", ["X", "X_val"])
def test_a_bad_row_is_named_with_its_layer(data, name):
    x = data[name].clone()
    x[17, 2, 3] = float("nan")
    with pytest.raises(InvalidInput, match=rf"{name} must be finite, .* at layer 2, first in row 17"):
        fit(data, **{name: x})


def test_shapes_that_do_not_match_are_refused(data):
    with pytest.raises(InvalidInput, match="X and X_val must have the same layers, got 4 and 3"):
        fit(data, X_val=data["X_val"][:, :3])
    with pytest.raises(InvalidInput, match="must have the same width, got 10 and 9 at layer 0"):
        fit(data, X_val=data["X_val"][:, :, :9])
    with pytest.raises(InvalidInput, match=r"X at layer 0 must have shape \[159, D\]"):
        fit(data, y=data["y"][:-1])
    with pytest.raises(InvalidInput, match=r"sample_weight must have shape \[160\], got \[3\]"):
        fit(data, sample_weight=torch.ones(3))
    ragged = FunctionLayers(lambda layer: data["X"][:, layer, : 10 - layer], num_layers=4)
    ragged_val = FunctionLayers(lambda layer: data["X_val"][:, layer, : 10 - layer], num_layers=4)
    with pytest.raises(InvalidInput, match="got 9 and 9 at layer 1 against 10 at layer 0"):
        fit(data, X=ragged, X_val=ragged_val)


@pytest.mark.parametrize("l2", [(), (0.0,), (1.0, -1.0)])
def test_strengths_must_be_positive(data, l2):
    with pytest.raises(InvalidInput, match="l2 must hold positive finite strengths"):
        fit(data, l2=l2)


@pytest.mark.parametrize(
    "l2", [0.1, None, ["a"], "auto", [None], [True], [[0.1]], np.array(0.1), torch.tensor(0.1)]
)
def test_strengths_must_be_numbers_in_a_sequence(data, l2):
    given = {**data, "l2": l2}
    with pytest.raises(InvalidInput, match=r"l2 must be a sequence of numbers, got .*l2=\(0.1,\)"):
        inspect.unwrap(fit_probes)(given.pop("X"), given.pop("y"), **given)


@pytest.mark.parametrize(
    "l2", [np.array([0.1, 1.0]), torch.tensor([0.1, 1.0], dtype=torch.float64), {0.1: 1, 1: 2}]
)
def test_strengths_may_come_in_any_sequence(data, l2):
    given = {**data, "l2": l2}
    probes = inspect.unwrap(fit_probes)(given.pop("X"), given.pop("y"), **given)
    assert probes.l2_grid.tolist() == [0.1, 1.0]


def by_rows(x):
    return FunctionLayers(num_layers=x.shape[1], read_rows=lambda layer, a, b: x[a:b, layer], num_rows=len(x))


@pytest.mark.parametrize("refit", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_layers_that_exceed_the_budget_give_the_same_probes(data, refit, weighted):
    weight = torch.rand(160, generator=torch.Generator().manual_seed(0)) if weighted else None
    y_val = data["y_val"].clone()
    y_val[:3] = 7  # a class that training never showed
    settings = {"y_val": y_val, "refit": refit, "sample_weight": weight, "tol": 1e-8, "l2": (1e-3, 0.1)}
    memory = fit(data, **settings)
    streamed = fit(data, X=by_rows(data["X"]), X_val=by_rows(data["X_val"]), byte_budget=1 << 20, **settings)
    assert streamed.chosen.tolist() == memory.chosen.tolist()
    assert streamed.best_layer == memory.best_layer
    assert streamed.converged.all()
    assert streamed.final_converged.all()
    for name in ("mean", "std", "weight", "bias", "val_loss", "val_accuracy", "objective"):
        ours, theirs = getattr(streamed, name), getattr(memory, name)
        assert (ours - theirs).norm() <= 1e-6 * theirs.norm(), name


def test_a_bad_row_of_a_streamed_layer_is_named(data):
    x = data["X"].clone()
    x[123, 2, 5] = float("nan")
    with pytest.raises(InvalidInput, match=r"X must be finite, .* at layer 2, first in row 123"):
        fit(data, X=by_rows(x), byte_budget=1, l2=(0.1,))


def test_features_read_by_rows_are_streamed_earlier_than_those_in_memory(data):
    x = data["X"]
    assert default_byte_budget(x) == default_byte_budget(x.numpy()) == DEFAULT_BYTE_BUDGET
    assert default_byte_budget(FunctionLayers(lambda layer: x[:, layer], num_layers=4)) == DEFAULT_BYTE_BUDGET
    assert default_byte_budget(by_rows(x)) == STREAM_BYTE_BUDGET


def test_a_memory_map_is_streamed(data, tmp_path):
    np.save(tmp_path / "x.npy", data["X"].numpy())
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    assert default_byte_budget(mapped) == STREAM_BYTE_BUDGET
    streamed, memory = fit(data, X=mapped, byte_budget=1, l2=(0.1,)), fit(data, l2=(0.1,))
    torch.testing.assert_close(streamed.objective, memory.objective, rtol=1e-9, atol=0)
