"""A decoder at one feature map, as a pure function [N, D] -> [M].   N = tokens, D = width, M = outputs."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from vitgeom.errors import InvalidInput
from vitgeom.linop.decoder_output import check_output
from vitgeom.linop.features import DTYPES, check_features
from vitgeom.linop.frozen_modules import frozen, own_parameters, watched
from vitgeom.linop.surroundings import differentiable

# Two evaluations of one function may differ by the order of sums on a GPU, never by more.
REPEAT_ULPS = 64


class DecoderFunction:
    """The decoder with frozen parameters in evaluation mode, found to be deterministic and to leave its input alone.

    Args:
        decoder: Takes [N, D], returns one tensor of any shape.
        features: Finite float32 or float64 [N, D]; copied.

    Raises:
        InvalidInput: It is no function of the features alone: it fails, changes its input, or gives two outputs for one input.
        NumericalFailure: Its output is not finite.
    """

    def __init__(self, decoder: object, features: object) -> None:
        if not callable(decoder):
            raise InvalidInput(
                f"decoder must be a function of features [N, D], got {type(decoder).__name__}."
            )
        self._decoder: Callable[..., object] = decoder
        self.features = check_features(features)
        self._modules: list[nn.Module] = []
        first, second = self._look(), self._look()
        _check_repeat(first, second)
        self.output = first
        self._weights = _stamps(self._modules)

    def __call__(self, x_ND: Tensor) -> Tensor:
        """Return the decoder's output, flattened to [M]; call it inside ``ready``."""
        output = self._decoder(x_ND)
        assert isinstance(output, Tensor)
        return output.flatten()

    @contextmanager
    def ready(self, *, forwards: bool = False) -> Iterator[None]:
        """Freeze the decoder's modules and set the process's switches for derivatives; all is restored after the block.

        Args:
            forwards: Whether forward derivatives are taken inside.

        Raises:
            InvalidInput: The weights are not those that the decoder was looked at with.
        """
        if _stamps(self._modules) != self._weights:
            raise InvalidInput(
                "weights of the decoder changed since the operator was built, so J and J^T would belong to two decoders. "
                "Build the operator again."
            )
        with differentiable(self.features.device, forwards=forwards), frozen(self._modules):
            yield

    def _look(self) -> Tensor:
        """Evaluate once, without derivatives, and note the modules that take part."""
        with differentiable(self.features.device, forwards=False), torch.no_grad():
            given = self.features.clone()
            before = given._version
            output, self._modules = self._evaluate(given)
            _check_weights(self._modules)
            # The counter finds changes that left the values as they were; the comparison those that went around the counter.
            if given._version != before or not torch.equal(given, self.features):
                raise InvalidInput(
                    "decoder changes its input in place (for example relu_ or +=), so it is no function of the features. "
                    "Give lambda f: decoder(f.clone())."
                )
            return check_output(output, like=self.features).clone()

    def _evaluate(self, given: Tensor) -> tuple[object, list[nn.Module]]:
        modules: list[nn.Module] = []
        try:
            with watched(self._decoder, into=modules):
                return self._decoder(given), modules
        except RuntimeError as error:
            if isinstance(error, torch.OutOfMemoryError):
                raise
            _check_weights(modules)
            raise InvalidInput(
                f"decoder fails at features {list(given.shape)} in {given.dtype} on {given.device}: {error}. "
                "Its weights must have that dtype and device, and it must take [N, D] (lambda f: decoder(f[None]) adds a batch axis)."
            ) from error


def _stamps(modules: Iterable[nn.Module]) -> list[tuple[int, int]]:
    """Return where each parameter lies and how often it was written to."""
    return [
        (weight.data_ptr(), 0 if weight.is_inference() else weight._version)
        for weight in own_parameters(modules)
    ]


def _check_weights(modules: Iterable[nn.Module]) -> None:
    for module in modules:
        for name, weight in module.named_parameters(recurse=False):
            if weight.is_floating_point() and weight.dtype not in DTYPES:
                raise InvalidInput(
                    f"decoder has weights in {weight.dtype} ({name} of {type(module).__name__}): derivatives are computed in float32 or "
                    "float64 only. Use decoder.float()."
                )


def _check_repeat(first: Tensor, second: Tensor) -> None:
    bound = REPEAT_ULPS * torch.finfo(first.dtype).eps * float(first.abs().max())
    same_shape = first.shape == second.shape
    if same_shape and float((first - second).abs().max()) <= bound:
        return
    found = (
        f"outputs differ by up to {float((first - second).abs().max()):.3g}"
        if same_shape
        else f"it gave {len(first)} and then {len(second)} entries"
    )
    raise InvalidInput(
        f"decoder gives two outputs for one input: {found}. Modules were in evaluation mode, so dropout or noise is drawn by hand "
        "(F.dropout without training=self.training, torch.rand, a state it keeps between calls). Remove it or fix its seed."
    )
