"""What a bottleneck is to learn, as the training loop asks for it.   B = images, N = tokens, W = numbers per token, R x Z = latents."""

from __future__ import annotations

import math

import torch
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck.fit_check import check_fits
from vitgeom.metric.bottleneck.joined_taps import JoinedTaps
from vitgeom.metric.bottleneck.losses import divergence, share_unexplained
from vitgeom.metric.bottleneck.moments import TrainingBlocks, moments
from vitgeom.metric.bottleneck.principal_start import start_from_principal_components
from vitgeom.metric.bottleneck.vae import BottleneckVAE
from vitgeom.metric.training import Examples, image_generators, needed


class BottleneckLearner:
    """Rebuild + kl_weight KL / (N W) + task_weight task.

    *Rebuild* is the mean squared error of standardised tokens over their variance between images, *task* the same of the frozen head's
    output. KL counts per token number, so that kl_weight means the same for every number of latents: for a linear bottleneck latents of
    variance v <= kl_weight / 2 (in units of a token number's) carry nothing, the others are known to that precision.

    Examples have ``features`` [B, N, W] and ``output`` [B, ...], as ``TokenExamples`` gives them.

    Args:
        vae: Trained in place.
        joined: The head that the rebuilt tokens are for; never changed.
        kl_weight: Larger: fewer directions, worse tokens. 0 is an autoencoder.
        task_weight: Larger: better outputs at the cost of the tokens.

    Attributes:
        module: The bottleneck.
        figure: "explained": 1 - rebuild error.

    Raises:
        InvalidInput: A bottleneck for other tokens, or weights that are not finite numbers >= 0.
    """

    figure = "explained"

    def __init__(
        self,
        vae: BottleneckVAE,
        joined: JoinedTaps,
        *,
        kl_weight: float = 6.0,
        task_weight: float = 1.0,
    ) -> None:
        check_fits(vae, joined)
        for name, value in (("kl_weight", kl_weight), ("task_weight", task_weight)):
            if isinstance(value, bool) or not math.isfinite(value) or value < 0:
                raise InvalidInput(
                    f"{name} must be a finite number >= 0, got {value!r}; 0 switches the term off."
                )
        self.module: BottleneckVAE = vae
        self.joined = joined
        self.kl_weight, self.task_weight = float(kl_weight), float(task_weight)

    def prepare(self, examples: Examples) -> None:
        """Fit scale and units to the training images and start from their principal components. Cost: six passes over the examples.

        Args:
            examples: All training images.

        Raises:
            InvalidInput: Images that are all the same, or of another size than the head's.
        """
        dtype = self.module.token_variance.dtype
        tokens = TrainingBlocks(examples, "features", dtype=dtype)
        found = moments(tokens, name="features")
        self.module.check_tokens(found.mean[None], grid=self.joined.grid)
        self.module.scale.fit(found.mean, found.variance)
        scaled = found.variance / self.module.scale.deviations(len(found.mean)).square()
        self.module.token_variance.copy_(scaled.mean())
        self.module.output_variance.copy_(
            moments(TrainingBlocks(examples, "output", dtype=dtype), name="output").variance.mean()
        )
        start_from_principal_components(
            self.module, tokens, mean_NW=found.mean, grid=self.joined.grid, kl_weight=self.kl_weight
        )

    def loss(self, batch: dict[str, Tensor], *, generator: Generator) -> dict[str, Tensor]:
        """Return rebuild, kl (nats per token number), task where it counts, and total, as means over images.

        Args:
            batch: With ``features``, ``output`` and ``rows``.
            generator: Of the step; each image's noise depends on it and the image's number.

        Raises:
            InvalidInput: An array is missing, or the head lies on another device.
        """
        tokens, wanted, rows = needed(batch, "features", "output", "rows")
        tokens = tokens.to(self.module.token_variance.dtype)
        latents = self.module.encode(tokens, grid=self.joined.grid)
        noise = _noise(latents.mean, rows=rows, generator=generator)
        z = latents.mean + (latents.log_variance / 2).exp() * noise
        rebuilt = self.module.decode(z, grid=self.joined.grid)
        terms = {
            "rebuild": self._rebuild_error(rebuilt, tokens).mean(),
            "kl": divergence(*latents).mean() / tokens[0].numel(),
        }
        total = terms["rebuild"] + self.kl_weight * terms["kl"]
        if self.task_weight > 0:
            terms["task"] = self._task_error(rebuilt, wanted).mean()
            total = total + self.task_weight * terms["task"]
        return {**terms, "total": total}

    def judge(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return rebuild_error, task_error, explained and kl of each image, from the latents' means.

        Args:
            batch: As for :meth:`loss`.
        """
        tokens, wanted = needed(batch, "features", "output")
        tokens = tokens.to(self.module.token_variance.dtype)
        latents = self.module.encode(tokens, grid=self.joined.grid)
        rebuilt = self.module.decode(latents.mean, grid=self.joined.grid)
        error = self._rebuild_error(rebuilt, tokens)
        return {
            "explained": 1 - error,
            "rebuild_error": error,
            "task_error": self._task_error(rebuilt, wanted),
            "kl": divergence(*latents) / tokens[0].numel(),
        }

    def _rebuild_error(self, rebuilt: Tensor, tokens: Tensor) -> Tensor:
        scale = self.module.scale
        return share_unexplained(
            scale.standardised(rebuilt), scale.standardised(tokens), variance=self.module.token_variance
        )

    def _task_error(self, rebuilt: Tensor, wanted: Tensor) -> Tensor:
        trunk = self.joined.decoder.trunk
        output = self.joined.read(rebuilt.to(trunk.dtype))
        return share_unexplained(output, wanted.to(output), variance=self.module.output_variance)


def _noise(like: Tensor, *, rows: Tensor, generator: Generator) -> Tensor:
    """Draw standard normal numbers for each image from its own stream."""
    streams = image_generators(generator, rows.cpu())
    return torch.stack([torch.randn(like.shape[1:], generator=stream) for stream in streams]).to(like)
