"""Examples whose directions and energies are a simple function of the features.   N = tokens, D = width, R = directions."""

from __future__ import annotations

import torch
from torch import Tensor

from vitgeom.metric.training import InMemoryExamples
from vitgeom.seeding import generator_for

TOKENS, WIDTH, RANK = 5, 6, 3


def planted_arrays(count: int, *, seed: int = 0, tokens: int = TOKENS) -> dict[str, Tensor]:
    """Direction j of an image: at each token a fixed map of the token's first channels; energies follow the mean feature."""
    g = generator_for(seed, "planted metric", tokens)
    features = torch.randn(count, tokens, WIDTH, generator=g) * torch.tensor([1.0, 1.0, 1.0, 50.0, 0.01, 1.0])
    features[:, :, 3] += 400.0
    law = torch.randn(WIDTH, RANK, 2, generator=generator_for(0, "law"))
    raw = torch.einsum("ntc,drc->ntdr", features[:, :, :2], law)
    raw = raw + 0.5 * torch.randn(WIDTH, RANK, generator=generator_for(1, "law"))
    v = torch.linalg.qr(raw.reshape(count, -1, RANK)).Q.reshape(raw.shape)
    decades = torch.tensor([2.0, 0.5, 0.01])
    sigma = decades * (1 + 0.1 * features[:, :, 0].mean(dim=1, keepdim=True)).abs()
    block = v.square().sum(dim=2)
    return {
        "features": features,
        "right_vectors": v,
        "singular_values": sigma.double(),
        "num_found": torch.full((count,), RANK),
        "importance": torch.einsum("ntr,nr->nt", block, sigma.square()).sqrt().double(),
    }


def planted_examples(count: int, *, seed: int = 0) -> InMemoryExamples:
    return InMemoryExamples(planted_arrays(count, seed=seed))
