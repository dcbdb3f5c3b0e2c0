from __future__ import annotations

import pytest
import torch
from torch import Tensor

from tests.oracles.dense_metric import dense_metric
from vitgeom.errors import InvalidInput
from vitgeom.linop.live_bytes import LiveBytes
from vitgeom.metric import PullbackMetric
from vitgeom.seeding import generator_for

B, N, D, R, K = 3, 4, 5, 6, 2


def drawn(*shape: int, name: str = "v") -> Tensor:
    return torch.randn(shape, dtype=torch.float64, generator=generator_for(0, name, *shape))


def metric(eps: float = 0.3) -> PullbackMetric:
    directions = torch.linalg.qr(drawn(B, N * D, R, name="u")).Q.reshape(B, N, D, R)
    return PullbackMetric(directions, drawn(B, R, name="lam").square().sort(dim=1, descending=True).values, eps)  # fmt: skip


def dense(g: PullbackMetric, image: int) -> Tensor:
    return dense_metric(g.directions[image], g.energies[image], eps=g.eps)


@pytest.mark.parametrize("eps", [0.0, 0.3])
def test_one_vector_per_image_agrees_with_the_matrix(eps: float) -> None:
    g, v = metric(eps), drawn(B, N, D)
    for image in range(B):
        flat, matrix = v[image].flatten(), dense(g, image)
        torch.testing.assert_close(g.apply(v)[image].flatten(), matrix @ flat)
        torch.testing.assert_close(g.quadratic(v)[image], flat @ matrix @ flat)


def test_several_vectors_per_image_agree_with_one_at_a_time() -> None:
    g, v = metric(), drawn(B, K, N, D)
    for k in range(K):
        torch.testing.assert_close(g.apply(v)[:, k], g.apply(v[:, k]))
        torch.testing.assert_close(g.quadratic(v)[:, k], g.quadratic(v[:, k]))
        torch.testing.assert_close(g.coordinates(v)[:, k], g.coordinates(v[:, k]))
    a, b = drawn(B, K, N, D, name="a"), drawn(B, K, N, D, name="b")
    torch.testing.assert_close(g.distance(a, b).square(), g.quadratic(a - b))


def test_directions_have_their_energies_and_the_rest_eps() -> None:
    g = metric()
    for j in range(R):
        u = g.directions[..., j]
        torch.testing.assert_close(g.quadratic(u), g.energies[:, j] + g.eps)
    v = drawn(B, N, D)
    across = (v.flatten(1) - torch.einsum("bpr,br->bp", g.columns, g.coordinates(v))).reshape(B, N, D)
    torch.testing.assert_close(g.quadratic(across), g.eps * across.square().sum(dim=(1, 2)))


def test_a_distance_is_one() -> None:
    g = metric(eps=0.1)
    a, b, c = (drawn(B, N, D, name=name) for name in "abc")
    torch.testing.assert_close(g.distance(a, b), g.distance(b, a))
    assert (g.distance(a, c) <= g.distance(a, b) + g.distance(b, c)).all()
    assert g.distance(a, a).tolist() == [0.0] * B


def test_importance_is_the_norm_of_each_tokens_block() -> None:
    g = metric(eps=0.0)
    for image in range(B):
        matrix = dense(g, image).reshape(N, D, N, D)
        blocks = torch.stack([matrix[t, :, t].trace() for t in range(N)]).sqrt()
        torch.testing.assert_close(g.token_importance()[image], blocks)
    torch.testing.assert_close(g.token_importance().square().sum(dim=1), g.energies.sum(dim=1))


def test_the_matrix_is_never_formed() -> None:
    tokens, width = 40, 50
    directions = torch.linalg.qr(drawn(1, tokens * width, 3, name="u")).Q.reshape(1, tokens, width, 3)
    g, v = PullbackMetric(directions, torch.ones(1, 3, dtype=torch.float64)), drawn(1, tokens, width)
    with LiveBytes() as watched:
        g.apply(v), g.quadratic(v), g.token_importance()
    assert watched.peak < 20 * 8 * 3 * tokens * width < 8 * (tokens * width) ** 2


def test_precision_is_that_of_the_vector() -> None:
    assert metric().apply(drawn(B, N, D).float()).dtype == torch.float32
    assert metric().quadratic(drawn(B, N, D).float()).dtype == torch.float32


@pytest.mark.parametrize("shape", [(B, N, D + 1), (B + 1, N, D), (N, D), (B, N * D), (1, B, K, N, D)])
def test_other_shapes_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput, match=r"v must be \[3, 4, 5\] or \[3, K, 4, 5\], got"):
        metric().apply(drawn(*shape))
