"""A decoder as taps and a read-out: the remaining blocks run from layer l, some layers are tapped, a frozen head reads the taps.

Taps before l do not depend on the features; they are captured from the image once and held fixed.   N = tokens, D = width.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones import Backbone
from vitgeom.decoders.refusals import check_features, check_finite, check_image, check_taps
from vitgeom.decoders.trunk import BackboneTrunk, Trunk
from vitgeom.errors import InvalidInput

ReadOut = Callable[[Sequence[Tensor]], Tensor]
"""Taps [B, N, D] of a batch, in order -> output [B, ...]."""


@dataclass(frozen=True, eq=False)
class TappedDecoder:
    """A frozen function of the tokens after block ``layer``.

    Attributes:
        name: How reports call it.
        trunk: The frozen model.
        layer: Blocks that have run before the features, 0..L.
        taps: Layers that the read-out sees, increasing; the last one is at or after ``layer``.
        read: From the taps to the output; frozen, in the model's dtype and on its device.
        readout: "cls", "patch_mean" or "tokens" where the decoder is nothing but the rest of the backbone and its final norm; None for all others.

    Raises:
        InvalidInput: Layer out of range, taps that are not there, do not increase, or all lie before the layer.
    """

    name: str
    trunk: Trunk
    layer: int
    taps: tuple[int, ...]
    read: ReadOut
    readout: str | None = None

    def __post_init__(self) -> None:
        check_taps(self.taps, layer=self.layer, trunk=self.trunk, name=self.name)

    @property
    def features_shape(self) -> tuple[int, int]:
        """(N, D)."""
        return self.trunk.tokens_shape

    def at(self, image: Tensor) -> BoundTaps:
        """Return the decoder at one image: its tokens of ``layer``, and its earlier taps held fixed.

        Args:
            image: Preprocessed pixels; moved to the model's device and dtype.

        Raises:
            InvalidInput: No such image, or one whose pixels or tokens are not finite.
        """
        check_image(image, name=self.name)
        tokens = tokens_at(
            self.trunk, image, layers=[*(tap for tap in self.taps if tap < self.layer), self.layer]
        )
        return self.at_tokens(tokens.pop(self.layer), earlier=tokens)

    def at_tokens(self, features: Tensor, *, earlier: Mapping[int, Tensor] | None = None) -> BoundTaps:
        """Return the decoder at tokens that are already there.

        Args:
            features: Tokens of ``layer``.
            earlier: Tap before ``layer`` -> its tokens; needed where there are any.

        Raises:
            InvalidInput: Not the tokens of this model, not finite, or an earlier tap is missing.
        """
        given = dict(earlier or {})
        missing = [tap for tap in self.taps if tap < self.layer and tap not in given]
        if missing:
            raise InvalidInput(
                f"decoder {self.name!r} reads layers {missing} before its features at layer {self.layer}: their tokens must be given "
                "as earlier={layer: tokens}. Bind it to an image instead: decoder.at(image)."
            )
        way_out = "Look at the image and at the layers before."
        for layer, tokens in (*given.items(), (self.layer, features)):
            check_features(tokens, layer=layer, trunk=self.trunk, name=self.name)
            check_finite(tokens, what=f"tokens of layer {layer} for decoder {self.name!r}", way_out=way_out)
        return BoundTaps(
            self, features.detach(), {tap: given[tap].detach() for tap in self.taps if tap in given}
        )

    def __call__(self, features: Tensor) -> Tensor:
        """Return the output for tokens of ``layer``.

        Args:
            features: In the model's dtype.

        Raises:
            InvalidInput: Not tokens of one image of this model, or the decoder reads earlier layers and is bound to no image.
        """
        return self._run(features, {})

    def _run(self, features: Tensor, earlier: Mapping[int, Tensor]) -> Tensor:
        check_features(features, layer=self.layer, trunk=self.trunk, name=self.name)
        before = [tap for tap in self.taps if tap < self.layer]
        if len(earlier) < len(before):
            raise InvalidInput(
                f"decoder {self.name!r} reads layers {before} before its features at layer {self.layer}, so it is a function of them only at "
                "an image: use decoder.at(image)."
            )
        tapped = [earlier[tap][None] for tap in before]
        tokens, at = features[None], self.layer
        for tap in self.taps[len(before) :]:
            tokens, at = self.trunk.blocks(tokens, at, tap), tap
            tapped.append(tokens)
        return self.read(tapped)[0]


@dataclass(frozen=True, eq=False)
class BoundTaps:
    """A tapped decoder at one image.

    Attributes:
        decoder: For any image.
        features: [N, D] the image's own tokens of the layer.
        earlier: Tap before the layer -> its tokens [N, D], held fixed.
    """

    decoder: TappedDecoder
    features: Float[Tensor, "n d"]
    earlier: Mapping[int, Tensor] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """How reports call it."""
        return self.decoder.name

    @property
    def layer(self) -> int:
        """Blocks that have run before the features."""
        return self.decoder.layer

    def __call__(self, features: Tensor) -> Tensor:
        """Return the output for any tokens of the layer; earlier taps stay those of the image.

        Args:
            features: In the model's dtype.

        Raises:
            InvalidInput: Not tokens of one image of this model.
        """
        return self.decoder._run(features, self.earlier)


@torch.no_grad()
def tokens_at(
    trunk: Trunk, image: Float[Tensor, "3 h w"], *, layers: Sequence[int]
) -> dict[int, Float[Tensor, "n d"]]:
    """Return the tokens of chosen layers of one image.

    Args:
        trunk: The frozen model.
        image: Preprocessed pixels; moved to the model's device and dtype.
        layers: In 0..L, increasing.
    """
    tokens, at = trunk.embed(image[None].to(trunk.device, trunk.dtype)), 0
    found = {}
    for layer in layers:
        tokens, at = trunk.blocks(tokens, at, layer), layer
        found[layer] = tokens[0]
    return found


def tapped(
    backbone: Backbone,
    name: str,
    *,
    layer: int,
    taps: Sequence[int],
    read: ReadOut,
    readout: str | None = None,
) -> TappedDecoder:
    """Return a tapped decoder on a ``Backbone``.

    Args:
        backbone: A loaded backbone.
        name: How reports call the decoder.
        layer: Blocks that have run before the features.
        taps: Layers that the read-out sees.
        read: From the taps to the output.
        readout: What is read off the final norm where that is all that happens.
    """
    return TappedDecoder(name, BackboneTrunk(backbone), layer, tuple(taps), read, readout)
