"""What every fused method promises; a test class per method inherits it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from torch import Tensor

from tests.support.layered_features import layered_features
from vitgeom.errors import InvalidInput
from vitgeom.fusion.estimator import LayerClassifier
from vitgeom.fusion.methods import Method

NUM_LAYERS, WIDTH = 2, 5
_QUICK = {"max_epochs": 3, "hidden_dim": 8}


def quick(entry: Method, *, seed: int = 0) -> LayerClassifier:
    """The method with little training, so that all promises can be checked on all methods."""
    made = entry.make(seed=seed)
    return made.set_params(**{name: _QUICK[name] for name in _QUICK if name in made.get_params()})


def shaped(entry: Method, x: Tensor) -> Tensor | list[Tensor]:
    """Features as the method takes them: those of a second backbone are one column narrower."""
    return [x, x[..., :-1].clone()] if entry.several_backbones else x


class FusedMethodContract:
    """Promises; ``entry`` is the method."""

    entry: ClassVar[Method]

    def data(self, rows: int = 60, classes: int = 3, *, layers: int = NUM_LAYERS) -> tuple[Tensor, Tensor]:
        x, y = layered_features(rows, layers, WIDTH, classes, strength=1.2)
        y[:classes] = torch.arange(classes)
        return x, y

    def fitted(self, x: Tensor, y: object, x_val: Tensor, y_val: object, *, seed: int = 0) -> LayerClassifier:
        return quick(self.entry, seed=seed).fit(self.shaped(x), y, self.shaped(x_val), y_val)

    def shaped(self, x: Tensor) -> Tensor | list[Tensor]:
        return shaped(self.entry, x)

    def assert_probabilities(self, estimator: LayerClassifier, x: Tensor) -> None:
        log_p = estimator.predict_log_proba(self.shaped(x))
        assert log_p.shape == (len(x), len(estimator.classes_))
        np.testing.assert_allclose(np.exp(log_p).sum(axis=1), 1, atol=1e-5)
        assert not np.isnan(log_p).any()

    @pytest.mark.parametrize("ids", [np.array([0, 1, 7]), np.array(["cat", "dog", "eel"])])
    def test_labels_come_back_as_they_were(self, ids):
        x, y = self.data()
        fitted = self.fitted(x[:40], ids[y[:40]], x[40:], ids[y[40:]])
        assert fitted.classes_.tolist() == ids.tolist()
        predicted = fitted.predict(self.shaped(x))
        assert set(predicted.tolist()) <= set(ids.tolist())
        assert predicted.dtype.kind == ids.dtype.kind
        assert fitted.score(self.shaped(x), ids[y]) > 0.5
        self.assert_probabilities(fitted, x)

    def test_classes_that_validation_or_a_fold_lacks(self):
        x, y = self.data(classes=4)
        y[y == 3] = 0
        y[0] = 3  # one member: no probe that is judged on it has seen its class
        y_val = y[40:].clone()
        y_val[y_val == 2] = 0
        y_val[:3] = 9  # a class that training never showed
        fitted = self.fitted(x[:40], y[:40], x[40:], y_val)
        assert fitted.classes_.tolist() == [0, 1, 2, 3]
        self.assert_probabilities(fitted, x)

    def test_validation_of_unknown_classes_alone(self):
        x, y = self.data()
        self.assert_probabilities(self.fitted(x[:40], y[:40], x[40:], torch.full((20,), 9)), x)

    def test_two_members_in_a_class_and_no_validation_given(self):
        x, y = self.data(rows=30, classes=2)
        y[:] = 0
        y[4:6] = 1
        fitted = quick(self.entry).fit(self.shaped(x), y)
        assert fitted.classes_.tolist() == [0, 1]
        self.assert_probabilities(fitted, x)

    def test_as_many_classes_as_rows_and_fewer_rows_than_columns(self):
        x, y = self.data(rows=8, classes=4)
        self.assert_probabilities(self.fitted(x[:4], y[:4], x[4:], y[4:]), x)

    def test_a_constant_column_and_a_constant_layer(self):
        x, y = self.data()
        x[:, :, 1] = 3.0
        x[:, 0] = -2.0
        self.assert_probabilities(self.fitted(x[:40], y[:40], x[40:], y[40:]), x)

    def test_one_layer(self):
        x, y = self.data(layers=1)
        self.assert_probabilities(self.fitted(x[:40], y[:40], x[40:], y[40:]), x)

    def test_one_seed_one_result_and_nothing_else_is_touched(self):
        x, y = self.data()
        before, state = x.clone(), torch.get_rng_state()
        first = self.fitted(x[:40], y[:40], x[40:], y[40:], seed=3).predict_log_proba(self.shaped(x))
        second = self.fitted(x[:40], y[:40], x[40:], y[40:], seed=3).predict_log_proba(self.shaped(x))
        np.testing.assert_array_equal(first, second)
        assert torch.equal(x, before)
        assert torch.equal(torch.get_rng_state(), state)

    def test_a_row_is_judged_by_itself(self):
        x, y = self.data()
        fitted = self.fitted(x[:40], y[:40], x[40:], y[40:])
        together = fitted.predict_log_proba(self.shaped(x))
        alone = fitted.predict_log_proba(self.shaped(x[7:8]))
        np.testing.assert_allclose(alone[0], together[7], atol=1e-5)

    def test_the_conventions_of_scikit_learn(self):
        made = quick(self.entry, seed=5)
        copy = clone(made)
        assert copy.get_params() == made.get_params()
        assert copy.get_params()["seed"] == 5
        if self.entry.several_backbones:
            return
        x, y = self.data()
        assert cross_val_score(copy, x.numpy(), y.numpy(), cv=2).mean() > 0.4

    def test_refusals_in_fitting(self):
        x, y = self.data()
        broken = x.clone()
        broken[7, 0] = torch.nan
        broken[7, -1] = torch.nan
        for given, labels, x_val, y_val, words in (
            (x[:40], torch.zeros(40, dtype=torch.int64), x[40:], y[40:], "at least 2 classes"),
            (broken[:40], y[:40], x[40:], y[40:], "finite.* first in row 7"),
            (x[:40], y[:40], x[:0], y[:0], "y_val must hold at least 1 row"),
            (x[:40], y[:39], x[40:], y[40:], "40 rows and 39 labels"),
            (x[:40], y[:40], x[40:, :, :-1], y[40:], "layers and widths of X"),
        ):
            with pytest.raises(InvalidInput, match=words):
                self.fitted(given, labels, x_val, y_val)

    def test_refusals_in_predicting(self):
        x, y = self.data()
        with pytest.raises(NotFittedError, match="call fit"):
            quick(self.entry).predict(self.shaped(x))
        fitted = self.fitted(x[:40], y[:40], x[40:], y[40:])
        broken = x.clone()
        broken[7, -1] = torch.inf
        wrong = [
            (self.shaped(broken), "finite.* first in row 7"),
            (self.shaped(x[..., :-1]), "training width 5"),
            (self.shaped(x[:0]), "at least 1 row"),
        ]
        more = [x, x, x] if self.entry.several_backbones else torch.cat([x, x], dim=1)
        for given, words in (*wrong, (more, "the 2 layers of training")):
            with pytest.raises(InvalidInput, match=words):
                fitted.predict(given)
