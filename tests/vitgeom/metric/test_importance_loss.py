from __future__ import annotations

import pytest
import torch

from tests.oracles.pairs_one_by_one import importance_loss_one_by_one
from vitgeom.errors import InvalidInput
from vitgeom.metric.importance_loss import RANKING_WEIGHT, importance_loss, pairs
from vitgeom.seeding import generator_for


def drawn(images: int, tokens: int, name: str) -> torch.Tensor:
    return torch.randn(images, tokens, dtype=torch.float64, generator=generator_for(0, name)).exp()


def test_it_is_what_tokens_and_pairs_one_by_one_give() -> None:
    predicted, wanted = drawn(4, 9, "p"), drawn(4, 9, "w")
    wanted[0, 3] = wanted[0, 5]  # a tie
    wanted[1, :4] = 0.0
    wanted[2] = 0.0  # an image to which nothing reacts
    wanted[3] = 0.7
    terms = importance_loss(predicted, wanted)
    each = [importance_loss_one_by_one(p.tolist(), w.tolist()) for p, w in zip(predicted, wanted, strict=True)]  # fmt: skip
    assert float(terms["logs"]) == pytest.approx(sum(one[0] for one in each) / 4)
    assert float(terms["ranking"]) == pytest.approx(sum(one[1] for one in each) / 4)
    assert float(terms["total"]) == pytest.approx(float(terms["logs"]) + RANKING_WEIGHT * float(terms["ranking"]))  # fmt: skip
    assert RANKING_WEIGHT == 0.5


def test_scale_matters_to_the_logs_and_not_to_the_ranking() -> None:
    predicted, wanted = drawn(2, 9, "p"), drawn(2, 9, "w")
    one, other = importance_loss(predicted, wanted), importance_loss(5 * predicted, wanted)
    torch.testing.assert_close(one["ranking"], other["ranking"])
    assert one["logs"] != other["logs"]
    assert float(importance_loss(wanted, wanted)["logs"]) == 0


def test_an_image_without_importance_has_no_gradient() -> None:
    predicted = drawn(2, 9, "p").requires_grad_()
    wanted = drawn(2, 9, "w")
    wanted[0] = 0.0
    importance_loss(predicted, wanted)["total"].backward()
    assert predicted.grad[0].abs().max() == 0
    assert predicted.grad.isfinite().all()


def test_the_gradient_is_the_derivative() -> None:
    predicted, wanted = drawn(2, 6, "p").requires_grad_(), drawn(2, 6, "w")
    wanted[0, 2] = 0.0
    assert torch.autograd.gradcheck(lambda p: importance_loss(p, wanted)["total"], (predicted,))


def test_all_pairs_up_to_260_tokens_and_drawn_ones_above() -> None:
    one, other = pairs(2, 260, generators=None, device=torch.device("cpu"))
    assert one.shape == (2, 260 * 259 // 2)
    assert (one < other).all()
    with pytest.raises(InvalidInput, match="generators must be given for more than 260 tokens, got 261"):
        pairs(2, 261, generators=None, device=torch.device("cpu"))


def test_drawn_pairs_belong_to_the_image_and_estimate_all_of_them() -> None:
    predicted, wanted = drawn(3, 400, "p"), drawn(3, 400, "w")
    streams = [generator_for(0, "image", row) for row in range(3)]
    sampled = importance_loss(predicted, wanted, generators=streams)["ranking"]
    again = importance_loss(
        predicted, wanted, generators=[generator_for(0, "image", row) for row in range(3)]
    )
    assert sampled == again["ranking"]
    exact = sum(importance_loss_one_by_one(p.tolist(), w.tolist())[1] for p, w in zip(predicted, wanted, strict=True)) / 3  # fmt: skip
    # One pair's loss deviates by less than 1; 12,800 pairs per image.
    assert float(sampled) == pytest.approx(exact, abs=5 / (3 * 12_800) ** 0.5)
