from __future__ import annotations

import threading

import pytest
import torch
from torch import Tensor

from tests.vitgeom.metric.training.toy_learner import ToyLearner, toy_examples
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.metric.training import InMemoryExamples, Trained, TrainingSettings, TrainingState, train

TRAIN, VAL = toy_examples(11), toy_examples(5, seed=1)
SETTINGS = TrainingSettings(epochs=6, batch_size=4, learning_rate=0.1, patience=6)


def trained(settings: TrainingSettings = SETTINGS, **options: object) -> tuple[ToyLearner, Trained]:
    learner = ToyLearner()
    return learner, train(learner, TRAIN, VAL, settings, **options)


def same(one: dict[str, Tensor], other: dict[str, Tensor]) -> bool:
    return set(one) == set(other) and all(torch.equal(one[name], other[name]) for name in one)


def test_it_learns_and_leaves_the_best_weights_in_the_module() -> None:
    learner, found = trained(TrainingSettings(epochs=60, batch_size=4, learning_rate=0.1, patience=60))
    assert found.stopped == "epochs"
    assert found.history[-1].loss["total"] < 0.1 * found.history[0].loss["total"]
    best = max(found.history, key=lambda report: report.selection)
    assert found.best == best
    assert same(dict(found.state.best_weights), learner.module.state_dict())
    assert not learner.module.training
    torch.testing.assert_close(learner.module.mean, TRAIN.batch(torch.arange(11))["features"].mean((0, 1)))


def test_the_same_seed_gives_the_same_bits_and_another_one_others() -> None:
    first, second = trained()[1], trained()[1]
    assert same(first.state.weights, second.state.weights)
    assert first.history == second.history
    other = trained(TrainingSettings(epochs=6, batch_size=4, learning_rate=0.1, patience=6, seed=1))[1]
    assert not same(first.state.weights, other.state.weights)


@pytest.mark.parametrize("interrupted", range(1, 6))
def test_interrupted_after_any_epoch_it_goes_on_bit_for_bit(interrupted: int, tmp_path) -> None:
    whole_learner, whole = trained()
    kept: list[TrainingState] = []

    def stop(report, state) -> bool:
        kept.append(state)
        return report.epoch < interrupted

    _, half = trained(on_epoch=stop)
    assert (half.stopped, len(half.history)) == ("caller", interrupted)
    state = TrainingState.load(kept[-1].save(tmp_path / "state"))
    learner, rest = trained(state=state)
    assert rest.history == whole.history
    assert rest.best == whole.best
    for group in ("weights", "moments", "best_weights"):
        assert same(getattr(rest.state, group), getattr(whole.state, group))
    assert same(learner.module.state_dict(), whole_learner.module.state_dict())


def test_states_are_snapshots_that_later_epochs_leave_alone() -> None:
    kept: list[TrainingState] = []
    trained(on_epoch=lambda report, state: kept.append(state) or True)
    first = trained(on_epoch=lambda report, state: False)[1].state
    assert same(kept[0].weights, first.weights)
    assert same(kept[0].moments, first.moments)
    assert not same(kept[0].weights, kept[-1].weights)


def test_a_finished_state_gives_its_result_without_another_epoch() -> None:
    learner, whole = trained()
    again, found = trained(state=whole.state, on_epoch=lambda report, state: pytest.fail("an epoch ran"))
    assert found.history == whole.history
    assert same(again.module.state_dict(), learner.module.state_dict())


def test_patience_ends_what_no_longer_improves() -> None:
    learner = ToyLearner()
    away = InMemoryExamples({"features": TRAIN.batch(torch.arange(11))["features"], "wanted": torch.full((11,), 50.0)})  # fmt: skip
    settings = TrainingSettings(epochs=40, batch_size=4, learning_rate=0.05, patience=3, warm_up=0.0)
    found = train(learner, TRAIN, away, settings)
    assert found.stopped == "patience"
    assert len(found.history) == found.best.epoch + 3 < 40
    assert same(dict(found.state.best_weights), learner.module.state_dict())


def test_one_image_is_enough() -> None:
    one = toy_examples(1)
    found = train(ToyLearner(), one, one, SETTINGS)
    assert found.history[-1].figures["closeness"].images == 1
    assert found.history[-1].figures["closeness"].std is None


def test_undefined_everywhere_keeps_the_last_weights() -> None:
    undefined = InMemoryExamples({"features": torch.ones(2, 4, 3), "wanted": torch.zeros(2)})
    learner = ToyLearner()
    found = train(learner, TRAIN, undefined, SETTINGS)
    assert found.best is None
    assert found.history[0].selection is None
    assert same(dict(found.state.weights), learner.module.state_dict())


class Together:
    """Workers in threads of one process that add up what they hand in."""

    def __init__(self, world_size: int) -> None:
        self.world_size = world_size
        self.barrier = threading.Barrier(world_size)
        self.given: list[Tensor] = [torch.zeros(0)] * world_size

    def member(self, rank: int) -> Member:
        return Member(self, rank)


class Member:
    def __init__(self, whole: Together, rank: int) -> None:
        self.whole, self.rank, self.world_size = whole, rank, whole.world_size

    def all_reduce(self, tensor: Tensor) -> None:
        self.whole.given[self.rank] = tensor.clone()
        self.whole.barrier.wait(timeout=60)
        total = sum(self.whole.given[1:], self.whole.given[0])
        self.whole.barrier.wait(timeout=60)
        tensor.copy_(total)


def in_group(world_size: int, *, stopping_rank: int | None = None) -> list[tuple[ToyLearner, Trained]]:
    whole = Together(world_size)
    found: list[tuple[ToyLearner, Trained] | None] = [None] * world_size

    def work(rank: int) -> None:
        learner = ToyLearner()
        with torch.no_grad():
            learner.module.weight.add_(float(rank))  # a worker that began elsewhere is brought into line
        on_epoch = (lambda report, state: False) if rank == stopping_rank else None
        found[rank] = (learner, train(learner, TRAIN, VAL, SETTINGS, group=whole.member(rank), on_epoch=on_epoch))  # fmt: skip

    threads = [threading.Thread(target=work, args=(rank,)) for rank in range(world_size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=120)
    return [one for one in found if one is not None]


@pytest.mark.parametrize("world_size", [2, 3, 7])
def test_several_workers_find_what_one_finds(world_size: int) -> None:
    alone_learner, alone = trained()
    members = in_group(world_size)
    assert len(members) == world_size
    for learner, found in members:
        assert same(found.state.weights, members[0][1].state.weights)
        assert found.history == members[0][1].history
        for name, tensor in alone_learner.module.state_dict().items():
            torch.testing.assert_close(learner.module.state_dict()[name], tensor, rtol=1e-4, atol=1e-5)
        for mine, theirs in zip(found.history, alone.history, strict=True):
            assert mine.loss["total"] == pytest.approx(theirs.loss["total"], rel=1e-4)
            assert mine.selection == pytest.approx(theirs.selection, rel=1e-3)


def test_workers_stop_together_when_one_caller_has_had_enough() -> None:
    members = in_group(3, stopping_rank=1)
    assert [(found.stopped, len(found.history)) for _, found in members] == [("caller", 1)] * 3


class Broken(ToyLearner):
    def loss(self, batch, *, generator):
        return {"total": self.module.weight.sum() * torch.nan}


def test_a_loss_that_is_not_finite_names_the_images() -> None:
    with pytest.raises(NumericalFailure, match=r"loss is not finite .* on images \["):
        train(Broken(), TRAIN, VAL, SETTINGS)


class Nameless(ToyLearner):
    def loss(self, batch, *, generator):
        return {"fit": self.module.weight.sum()}


def test_a_loss_without_total_is_refused() -> None:
    with pytest.raises(InvalidInput, match="must have a term 'total', got"):
        train(Nameless(), TRAIN, VAL, SETTINGS)


def test_another_beta_than_the_learners_is_refused() -> None:
    learner = ToyLearner()
    learner.beta = 0.7
    with pytest.raises(InvalidInput, match=r"beta of the learner is 0.7, of the settings 0.1"):
        train(learner, TRAIN, VAL, SETTINGS)


def test_no_images_are_refused() -> None:
    with pytest.raises(InvalidInput, match="val_examples must hold at least one image, got 0"):
        train(ToyLearner(), TRAIN, toy_examples(0), SETTINGS)
    with pytest.raises(InvalidInput, match="train_examples must hold at least one image, got 0"):
        train(ToyLearner(), toy_examples(0), VAL, SETTINGS)


def test_a_state_of_another_module_is_refused() -> None:
    state = trained(on_epoch=lambda report, state: False)[1].state
    with pytest.raises(InvalidInput, match="state does not fit the module"):
        train(ToyLearner(width=4), TRAIN, VAL, SETTINGS, state=state)
