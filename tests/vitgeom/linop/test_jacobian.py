from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from tests.contracts.linear_operator import LinearOperatorContract
from tests.oracles.dense_jacobian import dense_jacobian
from tests.support.attention_decoder import SmallDecoder
from vitgeom.errors import InvalidInput
from vitgeom.linop import (
    CountedOperator,
    DenseOperator,
    DiagonalOperator,
    JacobianOperator,
    LinearOperator,
)

TOKENS, WIDTH = 5, 8


def features(dtype: torch.dtype = torch.float64) -> Tensor:
    return torch.randn(TOKENS, WIDTH, generator=torch.Generator().manual_seed(0), dtype=torch.float64).to(
        dtype
    )


class TestJacobianOperator(LinearOperatorContract):
    @pytest.fixture(params=[torch.float32, torch.float64])
    def dtype(self, request: pytest.FixtureRequest) -> torch.dtype:
        return request.param

    @pytest.fixture
    def decoder(self) -> nn.Module:
        return SmallDecoder(WIDTH)

    @pytest.fixture
    def operator(self, decoder: nn.Module, dtype: torch.dtype) -> JacobianOperator:
        return JacobianOperator(copy.deepcopy(decoder).to(dtype), features(dtype), max_batch=2)

    @pytest.fixture
    def dense(self, decoder: nn.Module) -> Tensor:
        return dense_jacobian(decoder.eval(), features())


class TestWithOutputMetric(LinearOperatorContract):
    @pytest.fixture
    def decoder(self) -> nn.Module:
        return SmallDecoder(WIDTH).eval()

    @pytest.fixture(params=["matrix", "diagonal", "operator"])
    def metric(self, request: pytest.FixtureRequest, decoder: nn.Module) -> tuple[object, Tensor]:
        rows = decoder(features()).numel()
        generator = torch.Generator().manual_seed(3)
        if request.param == "diagonal":
            weights = torch.randn(rows, generator=generator, dtype=torch.float64)
            return DiagonalOperator(weights), torch.diag(weights)
        matrix = torch.randn(4, rows, generator=generator, dtype=torch.float64)
        return (matrix if request.param == "matrix" else DenseOperator(matrix)), matrix

    @pytest.fixture
    def operator(self, decoder: nn.Module, metric: tuple[object, Tensor]) -> LinearOperator:
        return JacobianOperator(decoder, features(), output_metric=metric[0])

    @pytest.fixture
    def dense(self, decoder: nn.Module, metric: tuple[object, Tensor]) -> Tensor:
        return metric[1] @ dense_jacobian(decoder, features())


def test_a_linear_decoder_is_its_own_jacobian() -> None:
    matrix = torch.randn(3, TOKENS * WIDTH, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    operator = JacobianOperator(lambda f: matrix @ f.flatten(), features())
    torch.testing.assert_close(operator.matmat(torch.eye(TOKENS * WIDTH, dtype=torch.float64)), matrix)
    torch.testing.assert_close(operator.rmatmat(torch.eye(3, dtype=torch.float64)), matrix.mT)
    assert operator.jvp_path == "vmap(jvp)"
    assert operator.vjp_path == "backward in a loop"
    assert operator.fallbacks == ()
    assert not operator.is_zero


def test_the_output_is_kept_and_flattened() -> None:
    operator = JacobianOperator(lambda f: f[None, :, :3] ** 2, features())
    assert operator.shape == (TOKENS * 3, TOKENS * WIDTH)
    torch.testing.assert_close(operator.output, (features()[:, :3] ** 2).flatten())
    torch.testing.assert_close(operator.features, features())


def test_a_decoder_that_ignores_its_features_is_the_zero_operator() -> None:
    operator = JacobianOperator(lambda f: torch.ones(4, dtype=f.dtype), features())
    assert operator.is_zero
    assert operator.vjp_path == "no dependence"
    assert not operator.matmat(torch.ones(TOKENS * WIDTH, 2, dtype=torch.float64)).any()
    assert not operator.rmatmat(torch.ones(4, 2, dtype=torch.float64)).any()


def test_a_constant_that_is_built_from_features_is_zero_too() -> None:
    assert JacobianOperator(lambda f: 0 * f.sum(dim=1), features()).is_zero


def test_blocks_of_columns_change_nothing() -> None:
    decoder = SmallDecoder(WIDTH)
    v = torch.randn(TOKENS * WIDTH, 5, generator=torch.Generator().manual_seed(2), dtype=torch.float64)
    whole = JacobianOperator(decoder, features(), max_batch=5)
    narrow = JacobianOperator(decoder, features(), max_bytes=1)
    torch.testing.assert_close(whole.matmat(v), narrow.matmat(v))
    assert narrow.column_bytes > 1


def test_counting_sees_single_products() -> None:
    counted = CountedOperator(JacobianOperator(SmallDecoder(WIDTH), features()))
    counted.matmat(torch.ones(TOKENS * WIDTH, 3, dtype=torch.float64))
    counted.rmatmat(torch.ones(counted.shape[0], 2, dtype=torch.float64))
    assert (counted.matmats, counted.rmatmats, counted.products) == (3, 2, 5)


def test_products_do_not_depend_on_modes_around_them() -> None:
    decoder = SmallDecoder(WIDTH)
    operator = JacobianOperator(decoder, features())
    v = torch.ones(TOKENS * WIDTH, 1, dtype=torch.float64)
    wanted = operator.matmat(v)
    u = torch.ones(operator.shape[0], 1, dtype=torch.float64)
    wanted_back = operator.rmatmat(u)
    for surroundings in (torch.inference_mode(), torch.no_grad(), torch.autocast("cpu", torch.bfloat16)):
        with surroundings:
            torch.testing.assert_close(operator.matmat(v), wanted)
            torch.testing.assert_close(operator.rmatmat(u), wanted_back)
            torch.testing.assert_close(JacobianOperator(decoder, features()).matmat(v), wanted)


def test_a_square_under_inference_mode_is_no_zero() -> None:
    with torch.inference_mode():
        operator = JacobianOperator(lambda f: f**2, features())
        product = operator.matmat(torch.ones(TOKENS * WIDTH, 1, dtype=torch.float64))
    torch.testing.assert_close(product[:, 0], 2 * features().flatten())


def test_a_metric_of_another_size_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"output_metric is 2 x 3, but the decoder has 40 outputs"):
        JacobianOperator(lambda f: f**2, features(), output_metric=torch.ones(2, 3, dtype=torch.float64))


def test_a_metric_of_another_dtype_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"output_metric is torch.float32 .* features are torch.float64"):
        JacobianOperator(lambda f: f**2, features(), output_metric=torch.ones(2, 40))


def test_a_metric_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidInput, match="output_metric must be a linear operator"):
        JacobianOperator(lambda f: f**2, features(), output_metric=[1.0])


@pytest.mark.parametrize("name", ["max_bytes", "max_batch"])
@pytest.mark.parametrize("value", [0, 1.5, True])
def test_sizes_that_are_none_are_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be a whole number >= 1"):
        JacobianOperator(lambda f: f, features(), **{name: value})


def test_whether_it_is_zero_is_unknown_without_a_check() -> None:
    operator = JacobianOperator(lambda f: f, features(), check=False)
    with pytest.raises(InvalidInput, match="Build the operator with check=True"):
        _ = operator.is_zero


def test_attention_is_differentiated_as_written_out() -> None:
    def fused(f: Tensor) -> Tensor:
        return F.scaled_dot_product_attention(f[None, None], f[None, None], f[None, None])

    def explicit(f: Tensor) -> Tensor:
        return (f @ f.mT / WIDTH**0.5).softmax(dim=-1) @ f

    v = torch.ones(TOKENS * WIDTH, 2, dtype=torch.float64)
    one, two = JacobianOperator(fused, features()), JacobianOperator(explicit, features())
    torch.testing.assert_close(one.matmat(v), two.matmat(v))
    torch.testing.assert_close(one.rmatmat(v), two.rmatmat(v))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no GPU in this process")
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_gpu_gives_the_products_of_the_cpu(dtype: torch.dtype) -> None:
    decoder = SmallDecoder(WIDTH).eval().to(dtype)
    here = JacobianOperator(decoder, features(dtype))
    v = torch.ones(here.shape[1], 3, dtype=dtype)
    u = torch.ones(here.shape[0], 3, dtype=dtype)
    pushed, pulled = here.matmat(v), here.rmatmat(u)
    there = JacobianOperator(copy.deepcopy(decoder).cuda(), features(dtype).cuda())
    torch.testing.assert_close(there.matmat(v.cuda()).cpu(), pushed, rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(there.rmatmat(u.cuda()).cpu(), pulled, rtol=1e-4, atol=1e-5)
    with pytest.raises(InvalidInput, match=r"v_NK is .* on cpu, the operator .* on cuda"):
        there.matmat(v)
