from __future__ import annotations

import pytest
import torch

from tests.support.planted_metric import RANK, WIDTH, planted_arrays, planted_examples
from vitgeom.errors import InvalidInput
from vitgeom.metric import SpectralPullbackNetwork, constant_subspace
from vitgeom.metric.training import (
    InMemoryExamples,
    SpnLearner,
    TrainingSettings,
    TrainingState,
    batches_of,
    figures_per_image,
    train,
)
from vitgeom.seeding import generator_for


def learner(rank: int = RANK, **options: int) -> SpnLearner:
    return SpnLearner(SpectralPullbackNetwork(WIDTH, rank, hidden=32, heads=2, blocks=1, **options))


def settings(epochs: int = 3) -> TrainingSettings:
    return TrainingSettings(epochs=epochs, batch_size=8, learning_rate=3e-3, patience=epochs)


def test_it_learns_directions_that_no_constant_subspace_has() -> None:
    train_examples, held_out = planted_examples(96), planted_examples(24, seed=1)
    found = train(learner(), train_examples, held_out, settings(epochs=25))
    constant = constant_subspace(batches_of(train_examples), rank=RANK)
    batch = held_out.batch(torch.arange(24))
    control = float(constant.alignment(batch["right_vectors"].flatten(1, 2)).mean())
    assert found.best.selection > 0.9 > 0.75 > control
    assert found.best.figures["energy_error"].mean < 0.2


def test_scales_are_fitted_before_the_first_step() -> None:
    one, arrays = learner(), planted_arrays(12)
    arrays["num_found"][:6] = 2
    arrays["singular_values"][:6, 2] = 0.0
    one.prepare(InMemoryExamples(arrays))
    wanted = 2 * arrays["singular_values"].log()
    torch.testing.assert_close(one.module.scale.log_energy[:2].double(), wanted[:, :2].mean(dim=0), rtol=1e-5, atol=1e-5)  # fmt: skip
    assert float(one.module.scale.log_energy[2]) == pytest.approx(float(wanted[6:, 2].mean()), rel=1e-5)
    assert float(one.module.entry.mean[3]) == pytest.approx(400, abs=20)


def test_directions_beyond_the_rank_count_what_is_left_of_the_norm() -> None:
    arrays = planted_arrays(4)
    one = learner()
    one.prepare(InMemoryExamples(arrays))
    assert float(one.module.scale.eps) == 0
    energy = arrays["singular_values"].square().sum(dim=1)
    arrays["norm_squared"] = energy + torch.tensor([27.0, 54.0, 0.0, -1e-9])  # 5 x 6 - 3 directions
    one.prepare(InMemoryExamples(arrays))
    assert float(one.module.scale.eps) == pytest.approx(3 / 4, rel=1e-5)
    assert one.module(arrays["features"]).eps == pytest.approx(3 / 4, rel=1e-5)


@pytest.mark.parametrize("interrupted", [1, 2])
def test_resumed_it_ends_in_the_same_bits(interrupted: int, tmp_path) -> None:
    examples, held_out, kept = planted_examples(10), planted_examples(4, seed=1), []
    whole = train(learner(), examples, held_out, settings())
    train(learner(), examples, held_out, settings(), on_epoch=lambda report, state: kept.append(state) or report.epoch < interrupted)  # fmt: skip
    state = TrainingState.load(kept[-1].save(tmp_path / "state"))
    again = learner(seed=9)  # weights come from the state
    rest = train(again, examples, held_out, settings(), state=state)
    assert rest.history == whole.history
    assert all(torch.equal(rest.state.weights[name], tensor) for name, tensor in whole.state.weights.items())


def test_images_without_energy_or_with_fewer_modes_are_lived_with() -> None:
    arrays = planted_arrays(6)
    arrays["num_found"] = torch.tensor([0, 1, 2, 3, 3, 3])
    arrays["right_vectors"][0] = 0
    arrays["right_vectors"][1, :, :, 1:] = 0
    arrays["singular_values"][0] = 0
    arrays["singular_values"][1, 1:] = 0
    arrays["singular_values"][3] = 2.0  # all modes degenerate
    examples = InMemoryExamples(arrays)
    one = learner()
    found = train(one, examples, examples, settings())
    assert found.best.figures["alignment"].images == 5
    assert found.best.figures["energy_error"].images == 4
    values = figures_per_image(one, examples, batch_size=4)
    assert values["alignment"].isnan().tolist() == [True] + [False] * 5
    assert values["energy_error"].isnan().tolist() == [True, False, False, True, False, False]


def test_only_images_without_energy_end_without_a_best_epoch() -> None:
    arrays = planted_arrays(3)
    arrays["num_found"][:] = 0
    examples = InMemoryExamples(arrays)
    found = train(learner(), examples, examples, settings())
    assert found.best is None
    assert found.history[-1].loss["total"] == 0


def test_broken_targets_are_left_out_and_named() -> None:
    arrays = planted_arrays(5)
    arrays["right_vectors"][2, 0, 0, 0] = torch.nan
    examples = InMemoryExamples(arrays)
    assert [(one.sample_id, one.reason) for one in examples.skipped] == [("2", "right_vectors: not finite")]
    found = train(learner(), examples, examples, settings())
    assert found.state.num_images == 4


def test_one_image_is_enough() -> None:
    one = planted_examples(1)
    found = train(learner(), one, one, settings(epochs=5))
    assert found.history[-1].loss["total"] < found.history[0].loss["total"]


@pytest.mark.parametrize("rank", [1, 5])
def test_the_rank_may_differ_from_the_targets(rank: int) -> None:
    found = train(learner(rank), planted_examples(6), planted_examples(3, seed=1), settings())
    assert 0 < found.best.selection <= 1


def test_what_it_learns_from_must_be_there() -> None:
    arrays = planted_arrays(4)
    del arrays["right_vectors"]
    with pytest.raises(InvalidInput, match="batch lacks right_vectors"):
        train(learner(), InMemoryExamples(arrays), InMemoryExamples(arrays), settings())


def test_the_loss_does_not_depend_on_the_generator() -> None:
    one, batch = learner(), planted_examples(3).batch(torch.arange(3))
    losses = {float(one.loss(batch, generator=generator_for(seed, "g"))["total"].detach()) for seed in (0, 1)}
    assert len(losses) == 1
