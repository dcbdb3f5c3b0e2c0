from __future__ import annotations

import copy
import json
from dataclasses import replace

import pytest

from tests.vitgeom.metric.bottleneck.conftest import SmoothHead, small_joined
from vitgeom.decoders import head_decoder
from vitgeom.decoders.random_head import random_head
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import JoinedTaps
from vitgeom.metric.bottleneck.identity import BottleneckIdentity


def test_it_survives_json(joined):
    identity = BottleneckIdentity.of(joined)
    assert BottleneckIdentity.from_json(json.loads(json.dumps(identity.to_json()))) == identity
    assert (identity.backbone, identity.head, identity.taps) == ("small", "smooth", (1, 2, 3))


def test_the_same_head_has_one_digest_whatever_its_name_and_precision(joined):
    narrow = copy.deepcopy(joined.backbone)
    narrow.model.float()
    again = JoinedTaps(
        head_decoder(narrow, random_head(SmoothHead, seed=0), layer=0, taps=(1, 2, 3), name="other name")
    )
    identity = BottleneckIdentity.of(joined)
    assert BottleneckIdentity.of(again).head_digest == identity.head_digest
    identity.check_is(again)


def test_another_head_is_refused(joined):
    with pytest.raises(
        InvalidInput, match=r"got head 'smooth' with weights \w{12}. Give that head, or train a bottleneck"
    ):
        BottleneckIdentity.of(joined).check_is(small_joined(seed=1))


def test_the_final_norm_is_part_of_the_head(joined):
    raw = JoinedTaps(
        head_decoder(
            joined.backbone,
            random_head(SmoothHead, seed=0),
            layer=0,
            taps=(1, 2, 3),
            normed=False,
            name="smooth",
        )
    )
    with pytest.raises(InvalidInput, match="got head 'smooth'"):
        BottleneckIdentity.of(joined).check_is(raw)


def test_other_taps_are_refused(joined):
    identity = replace(BottleneckIdentity.of(joined), taps=(0, 1, 2))
    with pytest.raises(
        InvalidInput,
        match=r"on taps \[0, 1, 2\] of backbone 'small' .* got taps \[1, 2, 3\]. Give those taps",
    ):
        identity.check_is(joined)


def test_another_backbone_is_refused(joined):
    identity = replace(BottleneckIdentity.of(joined), backbone="large", backbone_digest="1" * 64)
    with pytest.raises(
        InvalidInput, match=r"of backbone 'large' \(111111111111\), got backbone 'small' with weights 0{12}"
    ):
        identity.check_is(joined)
