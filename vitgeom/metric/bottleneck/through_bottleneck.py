"""The head behind the bottleneck: tokens -> latents -> rebuilt tokens -> head.   N = tokens, R x Z = latents."""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor

from vitgeom.decoders.frozen import frozen_copy
from vitgeom.metric.bottleneck.fit_check import check_fits
from vitgeom.metric.bottleneck.joined_taps import JoinedTaps
from vitgeom.metric.bottleneck.point import PointOf
from vitgeom.metric.bottleneck.vae import BottleneckVAE


class ThroughBottleneck:
    """Features F [N, T D] -> mean of the latents -> G -> head; rank(J) <= R Z.

    Args:
        joined: The head on its taps.
        vae: Copied, frozen, in the model's dtype and on its device.

    Raises:
        InvalidInput: A bottleneck for other tokens, or one with weights that are not finite.
    """

    def __init__(self, joined: JoinedTaps, vae: BottleneckVAE) -> None:
        check_fits(vae, joined)
        self.joined = joined
        self.vae = frozen_copy(vae, trunk=joined.decoder.trunk, name=f"{joined.name} through the bottleneck")

    @property
    def name(self) -> str:
        """How reports call it."""
        return f"{self.joined.name} through the bottleneck"

    @property
    def layer(self) -> int:
        """The last tap."""
        return self.joined.layer

    def __call__(self, features: Float[Tensor, "n td"]) -> Tensor:
        """Return the output for the features of one image.

        Args:
            features: In the model's dtype.

        Raises:
            InvalidInput: Another shape, dtype or device.
        """
        return self.joined(self.rebuilt(features))

    def rebuilt(self, features: Float[Tensor, "n td"]) -> Float[Tensor, "n td"]:
        """Return the features that come out of the bottleneck.

        Args:
            features: Of one image.
        """
        return self.vae(features[None], grid=self.joined.grid)[0]

    def at(self, image: Tensor) -> PointOf:
        """Return this decoder at one image.

        Args:
            image: Preprocessed pixels [3, H, W].

        Raises:
            InvalidInput: Not one image, or one whose pixels or tokens are not finite.
        """
        return self.at_features(self.joined.features_of(image))

    def at_features(self, features: Float[Tensor, "n td"]) -> PointOf:
        """Return this decoder at features that are already there.

        Args:
            features: Of one image.

        Raises:
            InvalidInput: Another shape, dtype or device, or not finite.
        """
        self.joined.check_point(features)
        return PointOf(self.name, self.layer, features.detach(), self)


class FromLatents:
    """Latents z [R, Z] -> G -> head: what a metric on the latents is learnt from.

    Args:
        through: The head behind its bottleneck.
    """

    def __init__(self, through: ThroughBottleneck) -> None:
        self.through = through

    @property
    def name(self) -> str:
        """How reports call it."""
        return f"{self.through.joined.name} from the latents"

    @property
    def layer(self) -> int:
        """The last tap."""
        return self.through.layer

    @property
    def features_shape(self) -> tuple[int, int]:
        """(R, Z)."""
        return self.through.vae.shape.registers, self.through.vae.shape.latent

    def __call__(self, features: Float[Tensor, "r z"]) -> Tensor:
        """Return the output for the latents of one image.

        Args:
            features: z, in the model's dtype.

        Raises:
            InvalidInput: Not [R, Z].
        """
        joined = self.through.joined
        return joined(self.through.vae.decode(features[None], grid=joined.grid)[0])

    def at(self, image: Tensor) -> PointOf:
        """Return this decoder at the mean of one image's latents.

        Args:
            image: Preprocessed pixels [3, H, W].

        Raises:
            InvalidInput: Not one image, or one whose pixels or tokens are not finite.
        """
        return self.at_features(self.through.joined.features_of(image))

    @torch.no_grad()
    def at_features(self, features: Float[Tensor, "n td"]) -> PointOf:
        """Return this decoder at the mean latents of an image whose tokens are already there.

        Args:
            features: Tokens [N, T D] of one image.

        Raises:
            InvalidInput: Another shape, dtype or device, or not finite.
        """
        self.through.joined.check_point(features)
        z = self.through.vae.encode(features[None], grid=self.through.joined.grid).mean[0]
        return PointOf(self.name, self.layer, z, self)
