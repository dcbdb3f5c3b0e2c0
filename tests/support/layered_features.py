"""Features that look like a network's: correlated columns, a decaying spectrum, class signal that grows with depth."""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.seeding import generator_for


def layered_features(
    num_rows: int, num_layers: int, width: int, num_classes: int, *, seed: int = 0, strength: float = 0.34
) -> tuple[Tensor, Tensor]:
    """Return features ``[n, L, D]`` float32 and labels ``[n]``.

    Half the within-class variation is common to all layers; directions are turned differently in each; deviations decay
    as j^-0.7; class means grow from 0.08 to ``strength`` with depth; a quadratic term makes classes not quite Gaussian.
    """
    g = generator_for(seed, "layered_features")

    def normal(*shape: int) -> Tensor:
        return torch.randn(*shape, generator=g, dtype=torch.float64)

    deviation = torch.arange(1, width + 1, dtype=torch.float64) ** -0.7
    labels = torch.randint(num_classes, (num_rows,), generator=g)
    means = normal(num_classes, width) * deviation
    common = normal(num_rows, width) * deviation
    features = torch.empty(num_rows, num_layers, width)
    for layer in range(num_layers):
        depth = layer / max(1, num_layers - 1)
        turn = torch.linalg.qr(normal(width, width))[0]
        latent = 0.7 * common + 0.7 * normal(num_rows, width) * deviation
        latent += (0.08 + (strength - 0.08) * depth**1.5) * means[labels]
        latent += 0.15 * torch.tanh(latent) ** 2
        columns = (latent @ turn) * (1 + 0.5 * torch.rand(width, generator=g, dtype=torch.float64))
        features[:, layer] = (columns + 0.3 * normal(num_rows, width)).float()
    return features, labels
