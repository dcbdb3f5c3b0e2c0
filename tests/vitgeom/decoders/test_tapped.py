from __future__ import annotations

import pytest
import torch

from vitgeom.decoders.tapped import tapped, tokens_at
from vitgeom.decoders.trunk import BackboneTrunk
from vitgeom.errors import InvalidInput


def two_taps(backbone, *, layer, taps=(3, 9)):
    return tapped(backbone, "sum", layer=layer, taps=taps, read=sum)


@pytest.mark.parametrize("layer", [0, 3, 5, 9])
def test_taps_before_and_after_the_layer_come_from_the_same_forward_pass(nano, picture, layer):
    kept = nano.capture(picture[None], token_layers=[2, 8]).tokens[0]
    bound = two_taps(nano, layer=layer).at(picture)
    torch.testing.assert_close(bound(bound.features), kept.sum(0), rtol=1e-9, atol=1e-11)
    assert sorted(bound.earlier) == [tap for tap in (3, 9) if tap < layer]


def test_earlier_taps_do_not_move_with_the_features(nano, picture):
    bound = two_taps(nano, layer=9).at(picture)
    moved = bound.features + 1.0
    torch.testing.assert_close(bound(moved) - bound(bound.features), torch.ones_like(moved))


def test_unbound_it_refuses_to_guess_earlier_taps(nano, picture):
    decoder = two_taps(nano, layer=5)
    features = decoder.at(picture).features
    with pytest.raises(
        InvalidInput, match=r"reads layers \[3\] before its features at layer 5.*decoder.at\(image\)"
    ):
        decoder(features)
    with pytest.raises(InvalidInput, match=r"reads layers \[3\].*earlier=\{layer: tokens\}"):
        decoder.at_tokens(features)


def test_given_tokens_make_the_same_point(nano, picture):
    found = tokens_at(BackboneTrunk(nano), picture, layers=[3, 5])
    decoder = two_taps(nano, layer=5)
    given = decoder.at_tokens(found[5], earlier={3: found[3]})
    bound = decoder.at(picture)
    assert torch.equal(given(given.features), bound(bound.features))


@pytest.mark.parametrize(
    ("layer", "taps", "words"),
    [
        (-1, (3, 9), r"layer=-1 of decoder 'sum' must be a whole number in 0\.\.12"),
        (13, (3, 9), r"layer=13 of decoder 'sum' must be a whole number in 0\.\.12"),
        (True, (3, 9), r"layer=True of decoder"),
        (2, (9, 3), r"taps=\[9, 3\] of decoder 'sum' must increase strictly"),
        (2, (3, 3), r"taps=\[3, 3\] of decoder 'sum' must increase strictly"),
        (2, (3, 13), r"name layer 13, but 'nano_supervised' has layers 0\.\.12"),
        (2, (), r"taps of decoder 'sum' are empty"),
        (10, (3, 9), r"its output would not depend on the features. Choose a layer in 0\.\.9"),
    ],
)
def test_layers_and_taps_that_make_no_sense_are_refused(nano, layer, taps, words):
    with pytest.raises(InvalidInput, match=words):
        two_taps(nano, layer=layer, taps=taps)


def test_values_that_are_not_finite_are_refused_with_their_place(nano, picture):
    decoder = two_taps(nano, layer=2)
    broken = picture.clone()
    broken[1, 5, 7] = float("nan")
    with pytest.raises(
        InvalidInput, match=r"pixels of the image for decoder 'sum' are not finite at \[1, 5, 7\]"
    ):
        decoder.at(broken)
    features = decoder.at(picture).features.clone()
    features[4, 2] = float("inf")
    with pytest.raises(InvalidInput, match=r"tokens of layer 2 for decoder 'sum' are not finite at \[4, 2\]"):
        decoder.at_tokens(features)


def test_a_batch_or_no_tensor_is_refused(nano, picture):
    with pytest.raises(
        InvalidInput, match=r"must be \[3, height, width\], got \[1, 3, 64, 64\]. Bind one image"
    ):
        two_taps(nano, layer=2).at(picture[None])
