from __future__ import annotations

import json

import pytest

from vitgeom.errors import InvalidInput, UnknownName


def test_tokens_that_exist_are_accepted(nano, headless):
    nano.spec.check_tokens(("cls", "mean"))
    headless.spec.check_tokens(("mean",))
    assert nano.spec.tokens == ("cls", "mean")
    assert headless.spec.tokens == ("mean",)


def test_cls_of_a_model_without_class_token_is_refused_and_mean_offered(headless):
    with pytest.raises(InvalidInput, match=r"class token.*'test_vit2'.*has none.*tokens='mean'"):
        headless.spec.check_tokens(("mean", "cls"))


def test_unknown_token_feature_is_refused(nano):
    with pytest.raises(UnknownName, match=r"unknown token feature 'clss'\. Did you mean 'cls'\?"):
        nano.spec.check_tokens(("clss",))


def test_json_round_trip_keeps_everything(nano):
    stored = json.loads(json.dumps(nano.spec.to_json()))
    assert stored["name"] == "nano_selfsup"
    assert stored["layout"]["num_registers"] == 4
    assert stored["preprocessing"] == nano.spec.preprocessing
    assert stored["weights_digest"] == nano.spec.weights_digest
    assert set(stored) == set(vars(nano.spec))


def test_layers_that_exist_are_accepted(nano):
    nano.spec.check_token_layers(())
    nano.spec.check_token_layers((0, 5, 11))


@pytest.mark.parametrize("layers", [(12,), (-1,), (True,)])
def test_a_layer_that_is_not_there_is_refused_with_the_legal_range(nano, layers):
    with pytest.raises(InvalidInput, match=r"names layer .* has 12 blocks: choose from 0\.\.11"):
        nano.spec.check_token_layers(layers)


def test_layers_must_rise(nano):
    with pytest.raises(InvalidInput, match=r"token_layers=\[3, 1\] must rise"):
        nano.spec.check_token_layers((3, 1))
