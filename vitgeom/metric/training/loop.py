"""The training loop: AdamW, one cosine, held-out images decide; it can be interrupted after any epoch and go on bit for bit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn

from vitgeom.errors import InvalidInput
from vitgeom.metric.training.batch_order import epoch_batches, num_batches
from vitgeom.metric.training.examples import Examples, check_examples
from vitgeom.metric.training.judgement import judge, selection
from vitgeom.metric.training.learner import Learner
from vitgeom.metric.training.optimiser import Optimiser
from vitgeom.metric.training.placement import Placement
from vitgeom.metric.training.report import EpochReport
from vitgeom.metric.training.schedule import rate_share
from vitgeom.metric.training.settings import TrainingSettings
from vitgeom.metric.training.state import TrainingState
from vitgeom.metric.training.step import gradients_of
from vitgeom.metric.training.worker_group import Alone, WorkerGroup
from vitgeom.seeding import generator_for

OnEpoch = Callable[[EpochReport, TrainingState], bool]
"""Told after each epoch how it went, with the state to go on from; False ends the training."""


@dataclass(frozen=True, eq=False)
class Trained:
    """How a training ended; the module holds the weights of the best epoch, in evaluation mode.

    Attributes:
        best: Report of that epoch; None where no epoch had a defined selection figure, and the module holds the last weights.
        history: One report per epoch.
        stopped: "epochs", "patience" or "caller".
        state: After the last epoch.
    """

    best: EpochReport | None
    history: tuple[EpochReport, ...]
    stopped: str
    state: TrainingState


def train(
    learner: Learner,
    train_examples: Examples,
    val_examples: Examples,
    settings: TrainingSettings,
    *,
    state: TrainingState | None = None,
    on_epoch: OnEpoch | None = None,
    group: WorkerGroup | None = None,
) -> Trained:
    """Train a learner's module in place and leave the weights of its best epoch in it.

    Everything is decided by the seed: on one CPU thread count a training that is interrupted after any epoch and resumed from its state gives the same bits as one that
    is not. K workers give the same gradients as one, up to rounding.

    Args:
        learner: Module and loss.
        train_examples: All training images, on every worker.
        val_examples: Held-out images, which decide the epoch.
        settings: How.
        state: To go on from; None to start.
        on_epoch: Told how each epoch ended, and may end the training.
        group: Workers that train together; None for one alone.

    Raises:
        InvalidInput: No examples, a device that is not there, or a state of another training.
        NumericalFailure: Loss or gradient is not finite.
    """
    group = group or Alone()
    _check(learner, train_examples, val_examples, settings)
    state, optimiser = _begun(learner, train_examples, settings, state=state, group=group)
    wanted = True
    while wanted and state.finished is None:
        state = _after_epoch(
            learner, train_examples, val_examples, state=state, optimiser=optimiser, group=group
        )
        wanted = _all_want(
            on_epoch is None or bool(on_epoch(state.history[-1], state)), settings=settings, group=group
        )
    _load(learner.module, state.best_weights or state.weights)
    learner.module.eval()
    return Trained(state.best, state.history, state.finished or "caller", state)


def _begun(
    learner: Learner,
    examples: Examples,
    settings: TrainingSettings,
    *,
    state: TrainingState | None,
    group: WorkerGroup,
) -> tuple[TrainingState, Optimiser]:
    """Return the state before the next epoch and an optimiser that stands there, the module likewise."""
    name, count = type(learner).__name__, examples.num_images
    if state is None:
        learner.prepare(examples)
    else:
        state.check_fits(learner=name, settings=settings, num_images=count)
    learner.module.to(settings.device)
    optimiser = Optimiser(
        learner.module, learning_rate=settings.learning_rate, weight_decay=settings.weight_decay
    )
    if state is not None:
        _load(learner.module, state.weights)
        optimiser.resume(state.moments, steps=state.steps)
        return replace(state, settings=settings), optimiser
    _make_equal(learner.module, group=group)
    weights = _copied(learner.module)
    return TrainingState(name, settings, count, 0, 0, weights, optimiser.tensors(), {}, ()), optimiser


def _after_epoch(
    learner: Learner,
    train_examples: Examples,
    val_examples: Examples,
    *,
    state: TrainingState,
    optimiser: Optimiser,
    group: WorkerGroup,
) -> TrainingState:
    """Take one more epoch and judge it."""
    settings, epoch = state.settings, state.epoch + 1
    placement = Placement.on(settings.device, precision=settings.precision)
    loss, norm = _epoch(
        learner, train_examples, settings, epoch=epoch, optimiser=optimiser, placement=placement, group=group
    )
    figures = judge(learner, val_examples, batch_size=settings.batch_size, placement=placement, group=group)
    chosen, before = selection(figures, learner=learner), state.best
    best = chosen is not None and (before is None or before.selection is None or chosen > before.selection)
    weights = _copied(learner.module)
    return replace(
        state,
        epoch=epoch,
        steps=optimiser.steps,
        weights=weights,
        moments=optimiser.tensors(),
        best_weights=weights if best else state.best_weights,
        history=(*state.history, EpochReport(epoch, loss, figures, chosen, best, norm)),
    )


def _check(learner: Learner, train_examples: Examples, val_examples: Examples, settings: TrainingSettings) -> None:  # fmt: skip
    check_examples(train_examples, name="train_examples")
    check_examples(val_examples, name="val_examples")
    settings.check_machine()
    beta = getattr(learner, "beta", settings.beta)
    if beta != settings.beta:
        raise InvalidInput(
            f"beta of the learner is {beta}, of the settings {settings.beta}. Build the learner with beta=settings.beta."
        )


def _epoch(
    learner: Learner,
    examples: Examples,
    settings: TrainingSettings,
    *,
    epoch: int,
    optimiser: Optimiser,
    placement: Placement,
    group: WorkerGroup,
) -> tuple[dict[str, float], float]:
    """Take the steps of one epoch; return the mean terms of the loss and the largest norm of a gradient."""
    learner.module.train()
    batches = epoch_batches(
        examples.num_images, batch_size=settings.batch_size, seed=settings.seed, epoch=epoch
    )
    total = settings.epochs * num_batches(examples.num_images, batch_size=settings.batch_size)
    sums: dict[str, float] = {}
    longest = 0.0
    for number, rows in enumerate(batches):
        gradients, terms = gradients_of(
            learner,
            examples,
            rows,
            weights=optimiser.weights,
            placement=placement,
            group=group,
            generator=generator_for(settings.seed, "loss", epoch, number),
        )
        share = rate_share(optimiser.steps, total=total, warm_up=settings.warm_up)
        norm = optimiser.step(gradients, share=share, clip_norm=settings.clip_norm)
        longest = max(longest, norm)
        for term, value in terms.items():
            sums[term] = sums.get(term, 0.0) + value * len(rows) / examples.num_images
    return sums, longest


def _all_want(wanted: bool, *, settings: TrainingSettings, group: WorkerGroup) -> bool:
    """Tell whether no worker's caller has had enough: they stop together or not at all."""
    if group.world_size == 1:
        return wanted
    refusals = torch.tensor([0.0 if wanted else 1.0], device=settings.device)
    group.all_reduce(refusals)
    return float(refusals) == 0.0


@torch.no_grad()
def _make_equal(module: nn.Module, *, group: WorkerGroup) -> None:
    """Give every worker the weights and buffers of the first one."""
    if group.world_size == 1:
        return
    for tensor in module.state_dict().values():
        if group.rank != 0:
            tensor.zero_()
        group.all_reduce(tensor)


def _copied(module: nn.Module) -> dict[str, Tensor]:
    return {name: tensor.detach().clone() for name, tensor in module.state_dict().items()}


def _load(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    try:
        module.load_state_dict(dict(weights))
    except RuntimeError as error:
        raise InvalidInput(
            f"state does not fit the module ({error}). Build it with the numbers it was begun with."
        ) from error
