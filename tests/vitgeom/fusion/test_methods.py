from __future__ import annotations

import inspect

import pytest

from tests.contracts.fused_method import FusedMethodContract, quick, shaped
from tests.support.fusion_data import TEST, TRAIN, evidence, part
from vitgeom.errors import UnknownName
from vitgeom.fusion.methods import CLASSES, METHODS, method

# One class of promises per method.
for _entry in METHODS.values():
    _name = "Test" + "".join(word.capitalize() for word in _entry.name.split("_"))
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


@pytest.mark.parametrize("name", [name for name, entry in METHODS.items() if not entry.several_backbones])
def test_the_seed_decides_only_where_the_list_says_so(name):
    entry = METHODS[name]
    x, _ = part(TEST)
    first, second = (
        quick(entry, seed=seed).fit_evidence(evidence()).predict_log_proba(shaped(entry, x)) for seed in (0, 1)
    )
    if not entry.stochastic:
        assert (first == second).all()


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
