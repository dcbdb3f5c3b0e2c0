from __future__ import annotations

import inspect
import json

import numpy as np
import pytest
import torch

from tests.oracles import recoverability_by_counting as counting
from tests.oracles import softmax_regression as oracle
from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput
from vitgeom.probes import fit_layer
from vitgeom.recoverability import refit_control
from vitgeom.seeding import generator_for


@pytest.fixture(scope="module")
def data():
    x, y = layered_features(150, 1, 6, 3, strength=0.4)
    return x[:100, 0], y[:100], x[100:, 0], y[100:]


def test_it_is_r_any_of_probes_refitted_one_by_one(data):
    x, y, x_test, y_test = data
    got = refit_control(*data, l2=0.01, num_refits=4, num_bootstrap=50, generator=generator_for(5))
    drawn = torch.randint(100, (4, 100), generator=generator_for(5)).numpy()
    z = oracle.standardise(x.numpy())
    z_test = (x_test.double() - x.double().mean(0)) / x.double().std(0, correction=0)
    said = []
    for rows in [*drawn, np.arange(100)]:
        w, b = oracle.solve(z[rows], y.numpy()[rows], 0.01, num_classes=3)
        said.append((z_test.numpy() @ w + b).argmax(axis=1).tolist())
    _, r_any = counting.recoverability(said, y_test.tolist())
    assert got.r_any.value == pytest.approx(r_any)
    assert got.errors == len(counting.errors_of(said[-1], y_test.tolist()))
    accuracy = [1 - len(counting.errors_of(layer, y_test.tolist())) / 50 for layer in said]
    assert [*got.refit_accuracy, got.accuracy] == pytest.approx(accuracy)
    assert got.unconverged == 0


def test_the_reference_is_the_probe_on_all_rows(data):
    x, y, x_test, y_test = data
    got = refit_control(*data, l2=0.1, num_refits=1, num_bootstrap=10, generator=generator_for(0))
    plain = fit_layer(x, y, num_classes=3, l2=torch.tensor([0.1], dtype=torch.float64))
    assert got.accuracy == pytest.approx(
        (plain.logits(x_test, problem=0).argmax(1) == y_test).double().mean().item()
    )


def test_more_refits_have_more_chances(data):
    few, many = (
        refit_control(*data, l2=0.01, num_refits=r, num_bootstrap=10, generator=generator_for(0))
        for r in (1, 20)
    )
    assert few.errors == many.errors > 0
    assert few.r_any.value < many.r_any.value


def test_no_errors_are_null():
    x = torch.cat([torch.zeros(20, 2), torch.ones(20, 2)])
    y = (torch.arange(40) >= 20).long()
    got = refit_control(x, y, x, y, l2=0.01, num_refits=2, num_bootstrap=10, generator=generator_for(0))
    assert got.errors == 0
    assert got.r_any is None
    assert json.loads(json.dumps(got.to_json()))["r_any"] is None


def test_a_resample_that_misses_a_class_still_converges():
    x, y = layered_features(12, 1, 4, 3, strength=1.0)
    y = torch.tensor([0] * 6 + [1] * 5 + [2])
    got = refit_control(
        x[:, 0], y, x[:, 0], y, l2=0.01, num_refits=10, num_bootstrap=10, generator=generator_for(0)
    )
    assert got.unconverged == 0


def test_unfinished_refits_are_counted(data):
    got = refit_control(
        *data, l2=1e-4, num_refits=3, num_bootstrap=10, max_iter=1, generator=generator_for(0)
    )
    assert got.unconverged == 4


def test_a_class_seen_only_in_test_is_always_wrong(data):
    x, y, x_test, _ = data
    got = refit_control(
        x, y, x_test, [9] * 50, l2=0.1, num_refits=3, num_bootstrap=10, generator=generator_for(0)
    )
    assert (got.errors, got.r_any.value) == (50, 0)


def test_what_cannot_be_refitted_is_refused(data):
    x, y, x_test, y_test = data
    settings = {"l2": 0.1, "num_refits": 2, "generator": generator_for(0)}
    with pytest.raises(InvalidInput, match="num_refits must be a whole number >= 1, got 0; with one layer"):
        refit_control(*data, **{**settings, "num_refits": 0})
    with pytest.raises(InvalidInput, match="X_test must have one row per label, got 50 rows and 49 labels"):
        refit_control(x, y, x_test, y_test[1:], **settings)
    with pytest.raises(InvalidInput, match="y must hold at least 2 classes"):
        refit_control(x, torch.zeros(100, dtype=torch.int64), x_test, y_test, **settings)
    bad = x_test.clone()
    bad[7, 1] = float("inf")
    with pytest.raises(InvalidInput, match=r"X_test must be finite, got .* in 1 row\(s\), first in row 7"):
        refit_control(x, y, bad, y_test, **settings)
    with pytest.raises(InvalidInput, match="training width 6, got 5"):
        refit_control(x, y, x_test[:, :5], y_test, **settings)
    with pytest.raises(InvalidInput, match="l2 must hold positive"):
        refit_control(*data, **{**settings, "l2": 0.0})


def test_a_missing_generator_is_refused(data):
    with pytest.raises(
        InvalidInput, match=r"generator must be a torch\.Generator, got None: results must be"
    ):
        inspect.unwrap(refit_control)(*data, l2=0.1, num_refits=2, generator=None)


def test_arrays_give_the_same_control(data):
    settings = {"l2": 0.1, "num_refits": 2, "num_bootstrap": 10}
    arrays = [part.numpy()[:] for part in data]
    for array in arrays:
        array.setflags(write=False)
    got = refit_control(*arrays, **settings, generator=generator_for(0))
    assert got == refit_control(*data, **settings, generator=generator_for(0))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"X_last": [[0.0]] * 100}, r"X_last must be a tensor or a numpy array \[n, D\], got list"),
        ({"X_test": None}, r"X_test must be a tensor or a numpy array \[n, D\], got NoneType"),
        (
            {"X_last": np.zeros((100, 2, 6))},
            r"X_last must have shape \[n, D\], got \[100, 2, 6\]; .* X_last\[:, -1\]",
        ),
        ({"X_last": np.zeros((100, 6), dtype=int)}, r"X_last must be floating point .* numpy array of int64"),
        (
            {"X_last": torch.zeros(100, 6, dtype=torch.int64)},
            r"X_last must be floating point, got torch\.int64",
        ),
        ({"num_refits": 1.5}, r"num_refits must be a whole number >= 1, got 1\.5"),
        ({"num_refits": True}, "num_refits must be a whole number >= 1, got True"),
        ({"num_bootstrap": "100"}, "num_bootstrap must be a whole number >= 1, got '100'"),
    ],
)
def test_what_is_of_another_kind_is_refused(data, changes, words):
    names = ("X_last", "y", "X_test", "y_test")
    given = {**dict(zip(names, data, strict=True)), "l2": 0.1, "num_refits": 2, "generator": generator_for(0)}
    with pytest.raises(InvalidInput, match=words):
        inspect.unwrap(refit_control)(**{**given, **changes})
