from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.contracts.linear_operator import LinearOperatorContract
from tests.support.small_backbones import PLAIN, small_backbone, tokens_of
from vitgeom.backbones import Backbone, load_backbone
from vitgeom.errors import InvalidInput, NumericalFailure, UnknownName
from vitgeom.linop import BlocksJacobian, JacobianOperator
from vitgeom.linop.blocks_decoder import BlocksDecoder
from vitgeom.linop.live_bytes import LiveBytes

AGREEMENT = {torch.float32: 2e-5, torch.float64: 1e-10}


def differentiated(backbone: Backbone, features: Tensor, **options: Any) -> JacobianOperator:
    """The same map by automatic differentiation."""
    decoder = BlocksDecoder(
        backbone, features, **{"stop": None, "finish": True, "readout": "tokens", **options}
    )
    return JacobianOperator(decoder, features, check=False)


def dense(operator: JacobianOperator) -> Tensor:
    return operator.matmat(torch.eye(operator.shape[1], dtype=operator.dtype))


class TestBlocksJacobian(LinearOperatorContract):
    @pytest.fixture(params=["cls", "patch_mean", "tokens"])
    def readout(self, request: pytest.FixtureRequest) -> str:
        return request.param

    @pytest.fixture(params=[torch.float32, torch.float64])
    def operator(self, readout: str, request: pytest.FixtureRequest) -> BlocksJacobian:
        backbone = small_backbone(PLAIN["plain"], dtype=request.param)
        return BlocksJacobian(backbone, tokens_of(backbone), start=1, readout=readout, max_batch=2)

    @pytest.fixture
    def dense(self, readout: str) -> Tensor:
        backbone = small_backbone(PLAIN["plain"])
        return dense(differentiated(backbone, tokens_of(backbone), start=1, readout=readout))


def check_against_autodiff(written: BlocksJacobian, other: JacobianOperator) -> None:
    generator = torch.Generator().manual_seed(0)
    torch.testing.assert_close(written.output, other.output, rtol=1e-4, atol=1e-5)
    for products, reference, length in (
        (written.matmat, other.matmat, written.shape[1]),
        (written.rmatmat, other.rmatmat, written.shape[0]),
    ):
        columns = torch.randn(length, 3, generator=generator, dtype=torch.float64).to(written.dtype)
        wanted = reference(columns)
        assert float((products(columns) - wanted).norm() / wanted.norm()) <= AGREEMENT[written.dtype]


@pytest.mark.parametrize("kind", list(PLAIN))
@pytest.mark.parametrize("finish", [True, False])
def test_every_form_agrees_with_automatic_differentiation(kind: str, finish: bool) -> None:
    backbone = small_backbone(PLAIN[kind])
    features = tokens_of(backbone)
    for readout in ("cls", "patch_mean", "tokens")[0 if backbone.spec.layout.num_cls else 1 :]:
        options = {"start": 0, "stop": 3, "finish": finish, "readout": readout}
        check_against_autodiff(
            BlocksJacobian(backbone, features, **options), differentiated(backbone, features, **options)
        )


@pytest.mark.parametrize(("dtype", "readout"), [(torch.float32, "cls"), (torch.float64, "tokens")])
def test_a_trained_backbone_agrees_with_automatic_differentiation(readout: str, dtype: torch.dtype) -> None:
    backbone = load_backbone("nano_supervised", dtype=dtype)
    pixels = torch.randn(1, 3, 64, 64, generator=torch.Generator().manual_seed(0)).to(dtype)
    features = backbone.blocks(backbone.embed(pixels), 0, 2)[0]
    written = BlocksJacobian(backbone, features, start=2, readout=readout)
    assert written.adjoint is not None
    check_against_autodiff(written, differentiated(backbone, features, start=2, readout=readout))


@pytest.mark.weights
def test_dinov2_agrees_with_automatic_differentiation(weights_dir: Path) -> None:
    backbone = load_backbone(
        weights_dir / "dinov2_vits14_518.fp16.safetensors",
        architecture="vit_small_patch14_dinov2",
        image_size=112,
    )
    pixels = torch.randn(1, 3, 112, 112, generator=torch.Generator().manual_seed(0))
    features = backbone.blocks(backbone.embed(pixels), 0, 9)[0]
    for readout in ("cls", "tokens"):
        written = BlocksJacobian(backbone, features, start=9, readout=readout)
        check_against_autodiff(written, differentiated(backbone, features, start=9, readout=readout))


def test_no_block_at_all_leaves_norm_and_readout() -> None:
    backbone = small_backbone(PLAIN["plain"])
    features = tokens_of(backbone)
    for readout in ("cls", "tokens"):
        options = {"start": 3, "stop": 3, "readout": readout}
        check_against_autodiff(
            BlocksJacobian(backbone, features, **options), differentiated(backbone, features, **options)
        )


def test_without_block_and_norm_it_is_the_readout() -> None:
    backbone = small_backbone(PLAIN["plain"])
    operator = BlocksJacobian(backbone, tokens_of(backbone), start=1, stop=1, finish=False)
    eye = torch.eye(operator.shape[1], dtype=torch.float64)
    assert torch.equal(operator.matmat(eye), eye)


def test_fewer_tokens_than_the_model_has_are_fine() -> None:
    backbone = small_backbone(PLAIN["plain"])
    features = tokens_of(backbone, count=4)
    check_against_autodiff(
        BlocksJacobian(backbone, features, start=1), differentiated(backbone, features, start=1)
    )


def test_products_do_not_depend_on_modes_around_them() -> None:
    backbone = small_backbone(PLAIN["plain"], dtype=torch.float32)
    operator = BlocksJacobian(backbone, tokens_of(backbone), start=1)
    v = torch.ones(operator.shape[1], 1)
    wanted = operator.matmat(v)
    with torch.inference_mode(), torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(operator.matmat(v), wanted)
        assert torch.equal(BlocksJacobian(backbone, tokens_of(backbone), start=1).matmat(v), wanted)


@pytest.mark.parametrize("kind", ["plain", "gated MLP, gate first"])
@pytest.mark.parametrize("readout", ["cls", "tokens"])
def test_a_column_holds_no_more_than_the_formula_says(kind: str, readout: str) -> None:
    backbone = small_backbone(PLAIN[kind])
    operator = BlocksJacobian(backbone, tokens_of(backbone, count=40), start=0, readout=readout)
    for products, length in ((operator.matmat, operator.shape[1]), (operator.rmatmat, operator.shape[0])):
        meter = LiveBytes()
        with meter:
            products(torch.ones(length, 1, dtype=torch.float64))
        assert 0.4 * operator.column_bytes < meter.peak <= operator.column_bytes


def test_memory_does_not_depend_on_the_number_of_outputs() -> None:
    backbone = small_backbone(PLAIN["plain"])
    peaks = {}
    for readout in ("patch_mean", "tokens"):
        operator = BlocksJacobian(
            backbone, tokens_of(backbone, count=40), start=0, readout=readout, max_batch=3
        )
        rows, columns = operator.shape
        meter = LiveBytes()
        with meter:
            operator.rmatmat(torch.ones(rows, 3, dtype=torch.float64))
        peaks[readout] = meter.peak - 8 * 3 * (columns + rows)  # beside operand and result
    assert peaks["tokens"] == pytest.approx(peaks["patch_mean"], rel=0.15)


def test_memory_grows_with_columns_at_once_and_not_with_columns() -> None:
    backbone = small_backbone(PLAIN["plain"])

    def peak(*, at_once: int, count: int) -> int:
        features = tokens_of(backbone, count=40)
        operator = BlocksJacobian(backbone, features, start=0, readout="patch_mean", max_batch=at_once)
        operand = torch.ones(operator.shape[1], count, dtype=torch.float64)
        meter = LiveBytes()
        with meter:
            operator.matmat(operand)
        return meter.peak - 8 * count * operator.shape[0]

    assert peak(at_once=6, count=6) == pytest.approx(3 * peak(at_once=2, count=2), rel=0.05)
    assert peak(at_once=2, count=6) == pytest.approx(peak(at_once=2, count=2), rel=0.05)


def test_a_budget_sets_the_width_and_changes_nothing() -> None:
    backbone = small_backbone(PLAIN["plain"])
    wide = BlocksJacobian(backbone, tokens_of(backbone), start=1)
    narrow = BlocksJacobian(backbone, tokens_of(backbone), start=1, max_bytes=1)
    v = torch.randn(wide.shape[1], 5, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    torch.testing.assert_close(wide.matmat(v), narrow.matmat(v))


def test_it_says_how_it_computes() -> None:
    backbone = small_backbone(PLAIN["plain"])
    operator = BlocksJacobian(backbone, tokens_of(backbone), start=1, readout="cls", check=False)
    assert (operator.jvp_path, operator.vjp_path, operator.fallbacks) == ("written out", "written out", ())
    assert operator.adjoint is None
    assert operator.shape == (12, 7 * 12)
    assert torch.equal(operator.features, tokens_of(backbone))


def test_weights_that_are_not_what_the_model_computes_with_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    backbone = small_backbone(PLAIN["plain"])
    monkeypatch.setattr(backbone, "norm_weights", lambda: None)
    with pytest.raises(NumericalFailure, match="differ from its own output by"):
        BlocksJacobian(backbone, tokens_of(backbone), start=1)


def test_another_readout_is_refused() -> None:
    backbone = small_backbone(PLAIN["plain"])
    with pytest.raises(UnknownName, match=r"unknown readout 'class'. Did you mean 'cls'"):
        BlocksJacobian(backbone, tokens_of(backbone), start=1, readout="class")


def test_a_range_outside_the_model_is_refused() -> None:
    backbone = small_backbone(PLAIN["plain"])
    with pytest.raises(InvalidInput, match=r"start=4, stop=3 must satisfy"):
        BlocksJacobian(backbone, tokens_of(backbone), start=4)
