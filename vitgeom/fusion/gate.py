"""The small net that weighs layers image by image, and how it is trained.

n = rows, r = inputs, H = hidden units, L = layers, K = classes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from numbers import Real

import torch
from jaxtyping import Float, Float32, Int64
from torch import Generator, Tensor
from torch.nn import functional

from vitgeom.adamw import AdamW
from vitgeom.errors import InvalidInput
from vitgeom.fusion.staged_rows import picked, release, spans
from vitgeom.probes.row_file import RowFile
from vitgeom.whole_numbers import whole_number

Combine = Callable[[Float[Tensor, "n L"], Float[Tensor, "n L K"]], Float[Tensor, "n K"]]
"""Raw gate values and scores of each layer to log probabilities."""

Batch = tuple[Tensor, Tensor, Tensor]
"""Inputs of the net ``[b, r]``, scores of each layer ``[b, L, K]`` and class indices ``[b]``."""

_LEAST_GAIN = 1e-5
"""A validation log-loss that is lower by less, in nats, counts as no progress."""


@dataclass(frozen=True)
class GateSettings:
    """How large the net is and how it is trained.

    Attributes:
        hidden_dim: H.
        dropout: Share of hidden units that are silent in a training step.
        learning_rate: Of AdamW.
        weight_decay: Of AdamW.
        batch_size: Rows per step; all of them if there are fewer.
        max_epochs: Most passes over the training rows.
        patience: Passes without progress on validation before training stops.
    """

    hidden_dim: int = 64
    dropout: float = 0.1
    learning_rate: float = 2e-3
    weight_decay: float = 1e-2
    batch_size: int = 256
    max_epochs: int = 100
    patience: int = 15

    def __post_init__(self) -> None:
        """Refuse what cannot be trained.

        Raises:
            InvalidInput: A setting is out of range.
        """
        for name in ("hidden_dim", "batch_size", "max_epochs", "patience"):
            whole_number(name, getattr(self, name), at_least=1)
        for name in ("dropout", "learning_rate", "weight_decay"):
            if not isinstance(getattr(self, name), Real) or isinstance(getattr(self, name), bool):
                raise InvalidInput(f"{name} must be a number, got {getattr(self, name)!r}.")
        if not 0 <= self.dropout < 1:
            raise InvalidInput(
                f"dropout must be at least 0 and below 1, got {self.dropout}; 0 switches it off."
            )
        if not self.learning_rate > 0 or not self.weight_decay >= 0:
            raise InvalidInput(
                f"learning_rate must be > 0 and weight_decay >= 0, got {self.learning_rate} and {self.weight_decay}."
            )


@dataclass(frozen=True, eq=False)
class GateNet:
    """x -> W2' gelu(W1' x + b1) + b2: one raw value per layer."""

    weight_in: Float32[Tensor, "r H"]
    bias_in: Float32[Tensor, " H"]
    weight_out: Float32[Tensor, "H L"]
    bias_out: Float32[Tensor, " L"]

    def __call__(
        self, x: Float32[Tensor, "n r"], *, keep: Float32[Tensor, "n H"] | None = None
    ) -> Float32[Tensor, "n L"]:
        """Return raw gate values.

        Args:
            x: Inputs.
            keep: What hidden units are multiplied by, for dropout.
        """
        hidden = functional.gelu(torch.addmm(self.bias_in, x, self.weight_in))
        return torch.addmm(self.bias_out, hidden if keep is None else hidden * keep, self.weight_out)

    @property
    def parts(self) -> tuple[Tensor, ...]:
        """All weights."""
        return (self.weight_in, self.bias_in, self.weight_out, self.bias_out)


@dataclass(frozen=True, eq=False)
class GateRows:
    """What a gate learns from, or is judged on.

    Attributes:
        x: Inputs of the net, in memory or in a file.
        scores: Scores of each layer by a probe that has not seen the row, layer after layer; likewise.
        target: Class indices, all known.
        num_layers: L.
    """

    x: Float32[Tensor, "n r"] | RowFile
    scores: Float32[Tensor, "n LK"] | RowFile
    target: Int64[Tensor, " n"]
    num_layers: int

    def some(self, index: Int64[Tensor, " b"]) -> Batch:
        """Return inputs, scores by layer and class indices of some rows."""
        return picked(self.x, index), self._by_layer(picked(self.scores, index)), self.target[index]

    def blocks(self) -> Iterator[Batch]:
        """Yield all rows in order; those in memory are one block."""
        in_memory = isinstance(self.x, Tensor) and isinstance(self.scores, Tensor)
        width = self.x.shape[1] + self.scores.shape[1]
        whole = [slice(0, len(self.target))]
        for where in whole if in_memory else spans(len(self.target), width):
            yield self.x[where], self._by_layer(self.scores[where]), self.target[where]

    def release(self) -> None:
        """Give back the disk space of what lies in files."""
        release(self.x, self.scores)

    def _by_layer(self, scores: Float32[Tensor, "b LK"]) -> Float32[Tensor, "b L K"]:
        return scores.view(len(scores), self.num_layers, -1)


@dataclass(frozen=True, eq=False)
class TrainedGate:
    """The net of the best epoch.

    Attributes:
        net: Weights.
        epoch: Passes behind it; 0 is the uniform start.
        loss: Its validation log-loss, in nats; None without validation rows.
    """

    net: GateNet
    epoch: int
    loss: float | None


def start_net(*, inputs: int, hidden_dim: int, layers: int, generator: Generator) -> GateNet:
    """Return a net whose raw values are all 0: every layer is weighed alike, whatever the image.

    Args:
        inputs: r.
        hidden_dim: H.
        layers: L.
        generator: Of the first layer's weights, normal with variance 1 / r.
    """
    weight_in = torch.randn(inputs, hidden_dim, generator=generator) / max(1, inputs) ** 0.5
    zeros = torch.zeros(hidden_dim, layers)
    return GateNet(weight_in, torch.zeros(hidden_dim), zeros, torch.zeros(layers))


def train_gate(
    train: GateRows, *, val: GateRows, combine: Combine, settings: GateSettings, generator: Generator
) -> TrainedGate:
    """Minimise the log-loss of the combination by AdamW and keep the epoch that validation likes best, the start included.

    Args:
        train: Held-out scores of training rows.
        val: Validation rows; without any the start is kept.
        combine: How raw gate values and scores make log probabilities.
        settings: Size and training.
        generator: Of the start, the order of rows and dropout.
    """
    net = start_net(
        inputs=train.x.shape[1],
        hidden_dim=settings.hidden_dim,
        layers=train.num_layers,
        generator=generator,
    )
    if not len(val.target):
        return TrainedGate(net, 0, None)
    best = TrainedGate(net, 0, _loss(net, val, combine))
    live = GateNet(*(part.clone().requires_grad_() for part in net.parts))
    optimiser = AdamW(live.parts, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay)
    for epoch in range(1, settings.max_epochs + 1):
        _one_epoch(live, train, optimiser=optimiser, combine=combine, settings=settings, generator=generator)
        loss = _loss(live, val, combine)
        assert best.loss is not None
        if loss < best.loss - _LEAST_GAIN:
            best = TrainedGate(GateNet(*(part.detach().clone() for part in live.parts)), epoch, loss)
        elif epoch - best.epoch >= settings.patience:
            break
    return best


def _one_epoch(
    net: GateNet,
    rows: GateRows,
    *,
    optimiser: AdamW,
    combine: Combine,
    settings: GateSettings,
    generator: Generator,
) -> None:
    order = torch.randperm(len(rows.target), generator=generator)
    for some in order.split(settings.batch_size):
        keep = None
        if settings.dropout:
            shape = (len(some), settings.hidden_dim)
            kept = torch.rand(shape, generator=generator) >= settings.dropout
            keep = kept.float() / (1 - settings.dropout)
        x, scores, target = rows.some(some)
        loss = functional.nll_loss(combine(net(x, keep=keep), scores), target)
        optimiser.step(torch.autograd.grad(loss, net.parts))


def _loss(net: GateNet, rows: GateRows, combine: Combine) -> float:
    total = 0.0
    with torch.no_grad():
        for x, scores, target in rows.blocks():
            loss = functional.nll_loss(combine(net(x), scores), target)
            total += len(target) / len(rows.target) * float(loss)
    return total
