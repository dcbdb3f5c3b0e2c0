"""Learning token importance from that of a decoder's Jacobian.   b = images, N = tokens."""

from __future__ import annotations

import torch
from torch import Generator, Tensor

from vitgeom.metric.importance_head import ImportanceHead
from vitgeom.metric.importance_loss import importance_loss
from vitgeom.metric.rank_correlation import rank_correlation
from vitgeom.metric.training.examples import Examples, needed
from vitgeom.metric.training.image_streams import image_generators
from vitgeom.metric.training.reading import all_of, batches_of


class ImportanceLearner:
    """An importance head with its loss; the best epoch is the one of the highest rank correlation over patch tokens.

    Args:
        module: The head.
        grid: Rows and columns of the patches of all images; None for the one nearest to a square.
    """

    figure = "rho"

    def __init__(self, module: ImportanceHead, *, grid: tuple[int, int] | None = None) -> None:
        self.module = module
        self.grid = grid

    def prepare(self, examples: Examples) -> None:
        """Fit the channels' scale and the typical importance.

        Args:
            examples: Training images.
        """
        self.module.fit_features(batch["features"] for batch in batches_of(examples))
        (importance,) = all_of(examples, "importance")
        self.module.fit_importance(importance)

    def loss(self, batch: dict[str, Tensor], *, generator: Generator) -> dict[str, Tensor]:
        """Return "total", "logs" and "ranking" (:func:`vitgeom.metric.importance_loss.importance_loss`).

        Args:
            batch: Features and importance.
            generator: Draws pairs where there are many tokens.
        """
        features, wanted, rows = needed(batch, "features", "importance", "rows")
        return importance_loss(
            self.module(features, grid=self.grid), wanted, generators=image_generators(generator, rows)
        )

    def judge(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        """Return "rho", Spearman's over patch tokens, "rho_all_tokens", and "log_error", the root mean square of log imp - log imp* over tokens of importance > 0.

        Args:
            batch: Features and importance.
        """
        features, wanted = needed(batch, "features", "importance")
        found, skip = self.module(features, grid=self.grid).double(), self.module.num_prefix
        wanted = wanted.double()
        positive = wanted > 0
        off = torch.where(positive, found.log() - torch.where(positive, wanted, 1.0).log(), 0.0)
        error = (off.square().sum(dim=1) / positive.sum(dim=1)).sqrt()
        return {
            "rho": rank_correlation(found[:, skip:], wanted[:, skip:]).with_nan(),
            "rho_all_tokens": rank_correlation(found, wanted).with_nan(),
            "log_error": error,
        }
