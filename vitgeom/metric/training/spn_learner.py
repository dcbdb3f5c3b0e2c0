"""Learning a metric from the directions and energies of a decoder's Jacobian.   b = images, N = tokens, D = width, R = directions of the targets."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from vitgeom.metric.alignment import alignment, directions_of
from vitgeom.metric.captured import captured_share
from vitgeom.metric.energy_modes import separated_modes
from vitgeom.metric.spectral_loss import energy_errors, spectral_loss
from vitgeom.metric.spn import SpectralPullbackNetwork
from vitgeom.metric.training.examples import Examples, needed
from vitgeom.metric.training.reading import all_of, batches_of


class SpnLearner:
    """A spectral pullback network with its loss; the best epoch is the one of the highest alignment.

    Args:
        module: The network.
        beta: Weight of the energies.
        grid: Rows and columns of the patches of all images; None for the one nearest to a square.
    """

    figure = "alignment"

    def __init__(
        self,
        module: SpectralPullbackNetwork,
        *,
        beta: float = 0.1,
        grid: tuple[int, int] | None = None,
    ) -> None:
        self.module = module
        self.beta = beta
        self.grid = grid

    def prepare(self, examples: Examples) -> None:
        """Fit the channels' scale and the modes' typical energies; where examples have ``norm_squared``, ||J||_F^2 [b], also that of all other directions.

        Args:
            examples: Training images.
        """
        self.module.fit_features(batch["features"] for batch in batches_of(examples))
        sigma, found = all_of(examples, "singular_values", "num_found")
        there = (torch.arange(sigma.shape[1]) < found[:, None]) & (sigma > 0)
        self.module.scale.fit(torch.where(there, 2 * sigma.log(), torch.nan), outside=self._outside(examples))

    def _outside(self, examples: Examples) -> Tensor | None:
        """Return the mean squared energy of directions beyond the rank, per image; None where the norm is not known."""
        first = examples.batch(torch.zeros(1, dtype=torch.int64))
        if "norm_squared" not in first:
            return None
        sigma, norm = all_of(examples, "singular_values", "norm_squared")
        captured = sigma[:, : self.module.rank].square().sum(dim=1)
        others = first["features"][0].numel() - self.module.rank
        return (norm - captured).clamp_min(0) / max(1, others)

    def loss(self, batch: dict[str, Tensor], *, generator: Generator) -> dict[str, Tensor]:
        """Return "total", "subspace" and "energy" (:func:`vitgeom.metric.spectral_loss.spectral_loss`).

        Args:
            batch: Features and targets.
            generator: Not used.
        """
        features, v, sigma, found = needed(batch, "features", "right_vectors", "singular_values", "num_found")
        metric = self.module(features, grid=self.grid)
        return spectral_loss(
            metric, right_vectors=v.flatten(1, 2), singular_values=sigma, num_found=found, beta=self.beta
        )

    def judge(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return "alignment", undefined for images without directions, and "energy_error", the root mean square of log lambda - log sigma^2.

        "captured", the share of all sensitivity that the directions hold, where the batch has "norm_squared".

        Args:
            batch: Features and targets.
        """
        features, v, sigma, found = needed(batch, "features", "right_vectors", "singular_values", "num_found")
        metric, v = self.module(features, grid=self.grid), v.flatten(1, 2)
        some = directions_of(v, rank=metric.rank, num_found=found) > 0
        counted = separated_modes(sigma, rank=metric.rank, num_found=found).any(dim=1)
        error = energy_errors(metric, singular_values=sigma, num_found=found).sqrt()
        figures = {
            "alignment": torch.where(some, alignment(metric.columns, v, num_found=found), torch.nan),
            "energy_error": torch.where(counted, error, torch.nan),
        }
        if "norm_squared" in batch:
            figures["captured"] = captured_share(
                metric.columns,
                right_vectors=v,
                singular_values=sigma,
                norm_squared=batch["norm_squared"],
                num_found=found,
            )
        return figures
