from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.support.attention_decoder import SmallDecoder
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.linop import DiagonalOperator
from vitgeom.metric.path_energy import PathEnergy


def drawn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("inner", [1, 2, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_steps_and_gradient_are_those_of_the_whole_graph(inner: int, weighted: bool) -> None:
    decoder = SmallDecoder(4).eval().requires_grad_(False)
    weights = drawn(7, seed=9) if weighted else torch.ones(7, dtype=torch.float64)
    points = drawn(inner + 2, 3, 4).requires_grad_(True)
    outputs = torch.stack([weights * decoder(each) for each in points])
    differences = outputs[1:] - outputs[:-1]
    (wanted,) = torch.autograd.grad((differences**2).sum(), points)
    energy = PathEnergy(
        decoder,
        points[0].detach(),
        points[-1].detach(),
        output_metric=DiagonalOperator(weights) if weighted else None,
    )
    steps, gradient = energy.steps(points[1:-1].detach())
    torch.testing.assert_close(steps, differences.detach().norm(dim=1))
    torch.testing.assert_close(gradient, wanted[1:-1])
    assert energy.evaluations == 3 + inner
    assert energy.chord == pytest.approx(float((outputs[-1] - outputs[0]).detach().norm()), rel=1e-12)


def test_no_more_than_two_graphs_are_held() -> None:
    """The output of a point is let go as soon as the point after its neighbour is evaluated."""
    alive: list[int] = []
    held = [0]

    class Noted(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x: Tensor) -> Tensor:
            held[0] += 1
            alive.append(held[0])
            ctx.mark_gone = _Gone(held)
            return x**3

        @staticmethod
        def backward(ctx, u: Tensor) -> Tensor:
            return u

    energy = PathEnergy(Noted.apply, drawn(1, 2), drawn(1, 2, seed=1))
    alive.clear()
    energy.steps(drawn(6, 1, 2, seed=2))
    assert max(alive) <= 2


class _Gone:
    """Counts down when a graph is let go."""

    def __init__(self, held: list[int]) -> None:
        self._held = held

    def __del__(self) -> None:
        self._held[0] -= 1


def test_an_output_that_ignores_its_input_pulls_nothing() -> None:
    energy = PathEnergy(lambda f: torch.ones(2, dtype=torch.float64), drawn(2, 3), drawn(2, 3, seed=1))
    steps, gradient = energy.steps(drawn(2, 2, 3, seed=2))
    assert float(steps.sum()) == 0
    assert float(gradient.abs().sum()) == 0


@pytest.mark.parametrize(
    ("start", "end", "words"),
    [
        (drawn(2, 3), drawn(3, 3), r"end is \[3, 3\], start \[2, 3\]"),
        (drawn(2, 3), drawn(2, 3).float(), r"end is torch.float32 on cpu, start torch.float64 on cpu"),
        (drawn(2, 3) / 0, drawn(2, 3), r"start of the path: features are not finite at token 0, entry 0"),
        (drawn(2, 3), torch.full((2, 3), torch.nan), r"end of the path: features are not finite at token 0"),
        (drawn(2, 3), drawn(1, 2, 3), r"end of the path: features must be the tokens of one image"),
        (drawn(2, 3).half(), drawn(2, 3).half(), r"start of the path: features are torch.float16"),
        (None, drawn(2, 3), r"start of the path: features must be a tensor \[N, D\], got NoneType"),
    ],
)
def test_ends_that_do_not_fit_are_refused(start: object, end: object, words: str) -> None:
    with pytest.raises(InvalidInput, match=words):
        PathEnergy(torch.sin, start, end)


def test_a_metric_of_other_columns_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"output_metric is 2 x 5, but the decoder has 6 outputs"):
        PathEnergy(torch.sin, drawn(2, 3), drawn(2, 3), output_metric=torch.ones(2, 5, dtype=torch.float64))


def test_an_end_without_finite_output_is_refused() -> None:
    with pytest.raises(NumericalFailure, match="not finite at the end of the path"):
        PathEnergy(torch.log, torch.ones(1, 2), torch.zeros(1, 2))
