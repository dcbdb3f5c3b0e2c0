from __future__ import annotations

import inspect

import numpy as np
import pytest

from tests.contracts.fused_method import FusedMethodContract, quick, shaped
from tests.support.fusion_data import TEST, TRAIN, evidence, part
from vitgeom.errors import UnknownName
from vitgeom.fusion.methods import CLASSES, METHODS, method

_BY_CLASS = {type(entry.make(seed=0)): entry for entry in METHODS.values()}

# One class of promises per class of methods; methods that differ in a parameter alone need no more.
for _class, _entry in _BY_CLASS.items():
    _name = f"Test{_class.__name__}"
    globals()[_name] = type(_name, (FusedMethodContract,), {"entry": _entry})


def test_the_list_is_in_the_order_of_a_table_and_complete():
    families = [entry.family for entry in METHODS.values()]
    order = ["single", "logit-level", "vertical", "horizontal"]
    assert families == sorted(families, key=order.index)
    assert {type(entry.make(seed=0)) for entry in METHODS.values()} == set(CLASSES)
    assert all(name == entry.name for name, entry in METHODS.items())
    assert all(entry.description.endswith(".") and entry.title for entry in METHODS.values())


def test_every_classifier_takes_a_seed_and_is_exported_by_one_name():
    assert all("seed" in inspect.signature(one).parameters for one in CLASSES)
    assert len({one.__name__ for one in CLASSES}) == len(CLASSES)


def test_an_unknown_method_is_refused_with_the_nearest():
    assert method("vfusion") is METHODS["vfusion"]
    with pytest.raises(UnknownName, match="Did you mean 'super_learner'"):
        method("superlearner")


@pytest.mark.parametrize("name", [name for name, entry in METHODS.items() if not entry.stochastic])
def test_on_shared_evidence_the_seed_decides_nothing_in_the_others(name):
    x, _ = part(TEST)
    first, second = (
        quick(METHODS[name], seed=seed).fit_evidence(evidence()).predict_log_proba(x) for seed in (0, 1)
    )
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("name", list(METHODS))
def test_a_method_does_better_than_chance_on_rows_it_never_saw(name):
    entry = METHODS[name]
    x, y = part(TEST)
    made = quick(entry)
    if entry.several_backbones:
        x_train, y_train = part(TRAIN)
        made.fit(shaped(entry, x_train), y_train)
    else:
        made.fit_evidence(evidence())
    assert made.score(shaped(entry, x), y.numpy()) > 0.45  # 4 classes
