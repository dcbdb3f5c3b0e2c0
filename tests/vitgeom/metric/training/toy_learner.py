"""A learner small enough to be followed by hand: a linear map from mean features to one number per image."""

from __future__ import annotations

import torch
from torch import Generator, Tensor, nn

from vitgeom.metric.training import Examples, InMemoryExamples, image_generators
from vitgeom.seeding import generator_for


class ToyModule(nn.Module):
    def __init__(self, width: int, *, seed: int = 0) -> None:
        super().__init__()
        self.register_buffer("mean", torch.zeros(width))
        self.weight = nn.Parameter(torch.randn(width, 1, generator=generator_for(seed, "toy")))
        self.bias = nn.Parameter(torch.zeros(1))

    def forward(self, features: Tensor) -> Tensor:
        return ((features.mean(dim=1) - self.mean) @ self.weight + self.bias)[:, 0]


class ToyLearner:
    """Least squares with noise that is drawn per image."""

    figure = "closeness"

    def __init__(self, width: int = 3, *, noise: float = 0.1) -> None:
        self.module = ToyModule(width)
        self.noise = noise

    def prepare(self, examples: Examples) -> None:
        features = examples.batch(torch.arange(examples.num_images))["features"]
        self.module.mean.copy_(features.mean(dim=(0, 1)))

    def loss(self, batch: dict[str, Tensor], *, generator: Generator) -> dict[str, Tensor]:
        drawn = [torch.randn((), generator=one) for one in image_generators(generator, batch["rows"])]
        off = self.module(batch["features"]) + self.noise * torch.stack(drawn) - batch["wanted"]
        return {"total": off.square().mean(), "size": off.abs().mean()}

    def judge(self, batch: dict[str, Tensor]) -> dict[str, Tensor]:
        off = (self.module(batch["features"]) - batch["wanted"]).square()
        return {"closeness": torch.where(batch["wanted"] == 0, torch.nan, -off)}


def toy_examples(count: int, *, seed: int = 0) -> InMemoryExamples:
    generator = generator_for(seed, "toy examples")
    features = torch.randn(count, 4, 3, generator=generator) + 2.0
    wanted = features.mean(dim=1) @ torch.tensor([1.0, -2.0, 0.5]) + 0.3
    return InMemoryExamples({"features": features, "wanted": wanted})
