from __future__ import annotations

import pytest
import torch

from tests.support.planted_metric import WIDTH, planted_arrays, planted_examples
from vitgeom.metric import ImportanceHead, rank_correlation
from vitgeom.metric.training import (
    ImportanceLearner,
    InMemoryExamples,
    TrainingSettings,
    TrainingState,
    figures_per_image,
    train,
)
from vitgeom.seeding import generator_for


def learner(**options: int) -> ImportanceLearner:
    return ImportanceLearner(ImportanceHead(WIDTH, hidden=32, heads=2, inner=16, **options))


def settings(epochs: int = 3) -> TrainingSettings:
    return TrainingSettings(epochs=epochs, batch_size=8, learning_rate=3e-3, patience=epochs)


def test_it_learns_which_tokens_matter() -> None:
    found = train(learner(), planted_examples(96), planted_examples(24, seed=1), settings(epochs=25))
    assert found.best.figures["rho"].mean > 0.8
    assert found.best.figures["log_error"].mean < 0.3
    assert found.best.figures["rho"].mean > found.history[0].figures["rho"].mean


def test_rho_is_over_patches_alone() -> None:
    one, examples = learner(), planted_examples(4)
    batch = examples.batch(torch.arange(4))
    predicted = one.module(batch["features"]).detach()
    found = figures_per_image(one, examples, batch_size=4)
    wanted = batch["importance"].float()
    torch.testing.assert_close(found["rho"], rank_correlation(predicted[:, 1:], wanted[:, 1:]).rho)
    torch.testing.assert_close(found["rho_all_tokens"], rank_correlation(predicted, wanted).rho)


@pytest.mark.parametrize("interrupted", [1, 2])
def test_resumed_it_ends_in_the_same_bits(interrupted: int, tmp_path) -> None:
    examples, held_out, kept = planted_examples(10), planted_examples(4, seed=1), []
    whole = train(learner(), examples, held_out, settings())
    train(learner(), examples, held_out, settings(), on_epoch=lambda report, state: kept.append(state) or report.epoch < interrupted)  # fmt: skip
    state = TrainingState.load(kept[-1].save(tmp_path / "state"))
    rest = train(learner(seed=9), examples, held_out, settings(), state=state)
    assert all(torch.equal(rest.state.weights[name], tensor) for name, tensor in whole.state.weights.items())


def test_images_without_importance_are_lived_with() -> None:
    arrays = planted_arrays(4)
    arrays["importance"][1] = 0.0
    arrays["importance"][2, 1:] = 0.5
    examples = InMemoryExamples(arrays)
    found = train(learner(), examples, examples, settings())
    assert found.best.figures["rho"].images == 2
    assert found.best.figures["rho_all_tokens"].images == 3
    assert found.best.figures["log_error"].images == 3


def test_many_tokens_draw_pairs_by_image() -> None:
    batch = InMemoryExamples(planted_arrays(3, tokens=270)).batch(torch.arange(3)) | {"rows": torch.arange(3)}
    one = learner()

    def ranking(seed: int) -> float:
        return float(one.loss(batch, generator=generator_for(seed, "step"))["ranking"].detach())

    assert ranking(0) == ranking(0) != ranking(1)
