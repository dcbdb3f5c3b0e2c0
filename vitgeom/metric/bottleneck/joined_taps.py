"""A head on its taps as a function of all of them at once.   B = images, N = tokens, T = taps, D = width.

The features are the taps' tokens side by side, [N, T D]; nothing of the trunk runs after them. Whatever layer the given decoder is
differentiated at, all its taps are features here: none is held fixed.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.backbones import Backbone
from vitgeom.decoders import TappedDecoder
from vitgeom.decoders.refusals import check_finite, check_image
from vitgeom.decoders.trunk import BackboneTrunk
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck.point import PointOf


class JoinedTaps:
    """Features [N, T D] -> what the head says; layer-major within a token, prefix tokens first.

    Args:
        decoder: A head on taps of a ``Backbone``, as ``load_decoder`` and ``head_decoder`` give it.

    Raises:
        InvalidInput: Another kind of decoder.
    """

    def __init__(self, decoder: object) -> None:
        if not isinstance(decoder, TappedDecoder) or not isinstance(decoder.trunk, BackboneTrunk):
            raise InvalidInput(
                f"decoder must be a head on taps of a backbone (TappedDecoder), got {type(decoder).__name__}. "
                "Build one with load_decoder or head_decoder."
            )
        self.decoder = decoder
        self._trunk = decoder.trunk

    @property
    def name(self) -> str:
        """The decoder's."""
        return self.decoder.name

    @property
    def backbone(self) -> Backbone:
        """Whose tokens they are."""
        return self._trunk.backbone

    @property
    def layer(self) -> int:
        """Blocks that have run before all features are there: the last tap."""
        return self.decoder.taps[-1]

    @property
    def features_shape(self) -> tuple[int, int]:
        """(N, T D)."""
        count, width = self._trunk.tokens_shape
        return count, width * len(self.decoder.taps)

    @property
    def grid(self) -> tuple[int, int]:
        """(rows, columns) of patches."""
        return self.backbone.spec.layout.grid

    @property
    def num_prefix(self) -> int:
        """Tokens before the first patch."""
        return self.backbone.spec.layout.num_prefix

    @torch.no_grad()
    def tokens(self, images: Float[Tensor, "b 3 h w"]) -> Float[Tensor, "b n td"]:
        """Return the features of pictures; their values are not looked at.

        Args:
            images: Preprocessed pixels; moved to the model's device and dtype.
        """
        tokens, at, found = self._trunk.embed(images.to(self._trunk.device, self._trunk.dtype)), 0, []
        for tap in self.decoder.taps:
            tokens, at = self._trunk.blocks(tokens, at, tap), tap
            found.append(tokens)
        return torch.cat(found, dim=-1)

    def read(self, tokens: Float[Tensor, "b n td"]) -> Tensor:
        """Return the head's output [B, ...].

        Args:
            tokens: Features of a batch, in the model's dtype.

        Raises:
            InvalidInput: Another shape, dtype or device.
        """
        self._check(tokens)
        return self.decoder.read(list(tokens.chunk(len(self.decoder.taps), dim=-1)))

    def __call__(self, features: Float[Tensor, "n td"]) -> Tensor:
        """Return the head's output for the features of one image.

        Args:
            features: In the model's dtype.

        Raises:
            InvalidInput: Another shape, dtype or device.
        """
        return self.read(features[None])[0]

    def at(self, image: Tensor) -> PointOf:
        """Return this decoder at one image.

        Args:
            image: Preprocessed pixels [3, H, W].

        Raises:
            InvalidInput: Not one image, or one whose pixels or tokens are not finite.
        """
        return self.at_features(self.features_of(image))

    def at_features(self, features: Float[Tensor, "n td"]) -> PointOf:
        """Return this decoder at features that are already there.

        Args:
            features: Of one image.

        Raises:
            InvalidInput: Another shape, dtype or device, or not finite.
        """
        self.check_point(features)
        return PointOf(self.name, self.layer, features.detach(), self)

    def features_of(self, image: Tensor) -> Float[Tensor, "n td"]:
        """Return the features of one image.

        Args:
            image: Preprocessed pixels [3, H, W].

        Raises:
            InvalidInput: Not one image, or one whose pixels are not finite.
        """
        check_image(image, name=self.name)
        return self.tokens(image[None])[0]

    def check_point(self, features: Tensor) -> None:
        """Refuse what no image's features are.

        Args:
            features: Of one image.

        Raises:
            InvalidInput: Another shape, dtype or device, or not finite.
        """
        self._check(features[None])
        check_finite(
            features, what=f"features of decoder {self.name!r}", way_out="Look at the image and the backbone."
        )

    def _check(self, tokens: Tensor) -> None:
        if tuple(tokens.shape[1:]) != self.features_shape:
            count, width = self.features_shape
            raise InvalidInput(
                f"features of decoder {self.name!r} must be [{count}, {width}] per image, the tokens of layers {list(self.decoder.taps)} of "
                f"{self._trunk.name!r} side by side, got {list(tokens.shape[1:])}."
            )
        if tokens.dtype != self._trunk.dtype or tokens.device.type != self._trunk.device.type:
            raise InvalidInput(
                f"features of decoder {self.name!r} are {tokens.dtype} on {tokens.device}, the model is {self._trunk.dtype} on "
                f"{self._trunk.device}. Convert them, or load the backbone in their dtype and on their device."
            )
