from __future__ import annotations

import pytest
import torch

from vitgeom.backbones.precision import capture_finite
from vitgeom.backbones.timm_models import anatomy_of
from vitgeom.errors import InvalidInput, NumericalFailure, UnknownName


def run(backbone, pixels, precision, **chosen):
    return capture_finite(
        anatomy_of(backbone.model), pixels, layout=backbone.spec.layout, precision=precision, **chosen
    )


class Overflowing(torch.nn.Module):
    """A block that leaves the range of half precision for loud images, and of float32 where told to."""

    def __init__(self, block: torch.nn.Module, factor: float) -> None:
        super().__init__()
        self.block, self.factor = block, factor
        self.narrow_calls = 0

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        narrow = torch.is_autocast_enabled("cpu")
        self.narrow_calls += narrow
        loud = tokens.abs().amax((1, 2), keepdim=True) > 50
        grown = torch.where(loud, self.factor, 0.0)
        grown = grown.to(torch.get_autocast_dtype("cpu")) if narrow else grown
        return self.block(tokens) + grown


def loud_images(backbone, images, *rows):
    pixels = images(backbone, 4)
    for row in rows:
        pixels[row] *= 1e4
    return pixels


@pytest.mark.parametrize(("precision", "tolerance"), [("bfloat16", 5e-2), ("float16", 2e-2)])
def test_narrow_precision_is_close_and_stays_in_the_models_dtype(backbone, images, precision, tolerance):
    pixels = images(backbone)
    wide, narrow = run(backbone, pixels, "float32"), run(backbone, pixels, precision)
    assert wide.recomputed == narrow.recomputed == 0
    for name, tensor in narrow.tensors().items():
        reference = wide.tensors()[name]
        assert tensor.dtype == torch.float32
        assert (tensor - reference).abs().max() <= tolerance * reference.abs().max(), name
        assert not torch.equal(tensor, reference), name


def test_float32_is_bit_identical_to_the_plain_pass(nano, images):
    pixels = images(nano)
    plain = nano.model.forward_intermediates(pixels, intermediates_only=True, output_fmt="NLC")
    assert torch.equal(run(nano, pixels, "float32").mean[:, -1], plain[-1].mean(1))


def test_only_the_images_that_overflow_are_computed_again(nano, images):
    nano.model.blocks[5] = Overflowing(nano.model.blocks[5], factor=1e6)
    pixels = loud_images(nano, images, 1, 3)
    wide, narrow = (run(nano, pixels, which, token_layers=(2, 8)) for which in ("float32", "float16"))
    assert narrow.recomputed == 2
    assert nano.model.blocks[5].narrow_calls == 1
    for name, tensor in narrow.tensors().items():
        assert torch.isfinite(tensor).all()
        torch.testing.assert_close(tensor[[1, 3]], wide.tensors()[name][[1, 3]], rtol=1e-5, atol=1e-5)
        assert not torch.equal(tensor[[0, 2]], wide.tensors()[name][[0, 2]])


@pytest.mark.parametrize("precision", ["float32", "float16", "bfloat16"])
def test_failure_in_wide_precision_names_layer_and_images(nano, images, precision):
    nano.model.blocks[5] = Overflowing(nano.model.blocks[5], factor=float("inf"))
    with pytest.raises(
        NumericalFailure,
        match=r"not finite from layer 6 of 12 on, at batch positions \[0, 2\].*dtype=torch.float64",
    ):
        run(nano, loud_images(nano, images, 0, 2), precision)


def test_a_failure_that_only_the_tokens_show_is_one_of_their_layer(nano, images):
    class OneRegister(torch.nn.Module):
        """A last block that loses one register, which neither the class token nor the mean sees."""

        def __init__(self, block):
            super().__init__()
            self.block = block

        def forward(self, tokens):
            tokens = self.block(tokens).clone()
            tokens[1, 1] = float("nan")
            return tokens

    assert nano.spec.layout.num_registers > 0
    nano.model.blocks[11] = OneRegister(nano.model.blocks[11])
    assert run(nano, images(nano), "float32").tokens is None
    with pytest.raises(NumericalFailure, match=r"from layer 12 of 12 on, at batch positions \[1\]"):
        run(nano, images(nano), "float32", token_layers=(11,))


def test_failure_after_the_last_block_is_named_too(nano, images):
    with torch.no_grad():
        nano.model.norm.bias[0] = float("nan")
    with pytest.raises(
        NumericalFailure, match=r"from the final norm or the pooled output on, at batch positions \[0, 1, 2\]"
    ):
        run(nano, images(nano), "float32")


def test_many_failing_images_are_counted_not_listed(nano, images):
    nano.model.blocks[0] = Overflowing(nano.model.blocks[0], factor=float("nan"))
    with pytest.raises(NumericalFailure, match=r"\[0, 1, 2, 3, 4, 5, 6, 7\] and 4 more"):
        run(nano, images(nano, 12) * 1e4, "float32")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_pixels_that_are_not_finite_are_the_callers_fault(nano, images, value):
    pixels = images(nano)
    pixels[1, 0, 3, 3] = value
    with pytest.raises(
        InvalidInput, match=r"images hold values that are not finite at batch positions \[1\]"
    ):
        run(nano, pixels, "bfloat16")


def test_unknown_precision_is_refused(nano, images):
    with pytest.raises(UnknownName, match=r"unknown precision 'float23'\. Did you mean 'float32'\?"):
        run(nano, images(nano), "float23")
