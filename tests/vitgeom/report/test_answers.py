from __future__ import annotations

import pytest
import torch
from safetensors.torch import save

from tests.support.fused_results import planted_answers
from vitgeom.errors import InvalidInput
from vitgeom.fusion.pooled import BEST_LAYER, ORACLE
from vitgeom.report.answers import parse_answers, same_images


def test_who_was_right_is_the_share_of_seeds() -> None:
    planted = {
        "vfusion": torch.tensor([[0, 1, 2], [0, 0, 2]]),
        "layers": torch.tensor([[1, 1, 2], [0, 0, 0]]),
        "target": torch.tensor([0, 1, 1]),
    }
    found = parse_answers(save(planted), best_layer=1, where="here").outcomes("digits")
    assert found.dataset == "digits"
    assert found.right["vfusion"].tolist() == [1.0, 0.5, 0.0]
    assert found.right[ORACLE].tolist() == [1.0, 1.0, 0.0]
    assert found.right[BEST_LAYER].tolist() == [1.0, 0.0, 0.0]


def test_the_true_classes_tell_the_images() -> None:
    one = parse_answers(save(planted_answers()), best_layer=0, where="here")
    changed = {**planted_answers(), "target": torch.ones_like(one.target)}
    assert same_images(one, one)
    assert not same_images(one, parse_answers(save(changed), best_layer=0, where="here"))


def test_what_is_no_such_file_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the predictions of here cannot be read"):
        parse_answers(b"nonsense", best_layer=0, where="here")
    with pytest.raises(InvalidInput, match="KeyError: 'target'"):
        parse_answers(save({}), best_layer=0, where="here")


def test_parts_that_do_not_belong_together_are_refused() -> None:
    planted = planted_answers()
    with pytest.raises(InvalidInput, match="hold layer 3"):
        parse_answers(save(planted), best_layer=3, where="here")
    planted["vfusion"] = planted["vfusion"][:, :5].clone()
    with pytest.raises(InvalidInput, match=r"must be \[seeds, 300\]"):
        parse_answers(save(planted), best_layer=0, where="here")
