from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.bottleneck.conftest import SMALL, pictures, small_joined, stirred
from vitgeom.errors import InvalidInput
from vitgeom.metric.bottleneck import BottleneckLearner, BottleneckVAE, TokenExamples, bottleneck_for
from vitgeom.metric.bottleneck.losses import divergence
from vitgeom.metric.training import Learner, TrainingSettings, image_generators, judge, train


def generator(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def learner_for(joined, **weights) -> BottleneckLearner:
    return BottleneckLearner(bottleneck_for(joined, **SMALL).double(), joined, **weights)


def mixtures(count: int, *, seed: int) -> torch.Tensor:
    """Pictures of four patterns in changing strength: tokens that differ in four ways, and not along straight lines."""
    strengths = torch.randn(count, 4, generator=generator(seed)).double()
    return torch.einsum("nk,kchw->nchw", strengths, pictures(4, seed=9))


def batch_of(joined, count: int = 4) -> dict[str, torch.Tensor]:
    rows = torch.arange(count)
    return {**TokenExamples(joined, pictures(count)).batch(rows), "rows": rows}


def test_it_is_a_learner(joined):
    assert isinstance(learner_for(joined), Learner)


def test_the_total_is_the_weighted_sum_of_its_terms(joined):
    learner = learner_for(joined, kl_weight=0.3, task_weight=2.0)
    terms = learner.loss(batch_of(joined), generator=generator())
    assert set(terms) == {"rebuild", "kl", "task", "total"}
    torch.testing.assert_close(terms["total"], terms["rebuild"] + 0.3 * terms["kl"] + 2.0 * terms["task"])


def test_the_terms_are_those_of_hand_drawn_latents(joined):
    learner = learner_for(joined)
    stirred(learner.module)
    batch = batch_of(joined, 1)
    vae, tokens = learner.module, batch["features"]
    terms = learner.loss(batch, generator=generator(7))
    latents = vae.encode(tokens, grid=joined.grid)
    noise = torch.randn(2, 3, generator=image_generators(generator(7), batch["rows"])[0]).double()
    rebuilt = vae.decode(latents.mean + (latents.log_variance / 2).exp() * noise, grid=joined.grid)
    torch.testing.assert_close(terms["rebuild"], (rebuilt - tokens).square().mean())  # scale not fitted yet
    torch.testing.assert_close(terms["kl"], divergence(*latents)[0] / (7 * 36))
    torch.testing.assert_close(terms["task"], (joined.read(rebuilt) - batch["output"]).square().mean())


def test_a_batch_is_the_mean_of_its_images(joined):
    """Then workers that share a batch find the gradient of one alone."""
    learner, batch = learner_for(joined), batch_of(joined)
    stirred(learner.module)
    whole = learner.loss(batch, generator=generator())["total"]
    alone = [
        learner.loss({name: array[i : i + 1] for name, array in batch.items()}, generator=generator())[
            "total"
        ]
        for i in range(4)
    ]
    torch.testing.assert_close(whole, torch.stack(alone).mean())


def test_a_weight_of_zero_leaves_the_head_alone(joined, monkeypatch):
    learner, batch = learner_for(joined, task_weight=0.0), batch_of(joined)
    monkeypatch.setattr(joined, "read", None)  # would fail if it were called
    assert set(learner.loss(batch, generator=generator())) == {"rebuild", "kl", "total"}
    monkeypatch.undo()


def test_figures_are_errors_of_the_mean_latents(joined):
    learner, batch = learner_for(joined), batch_of(joined)
    learner.prepare(TokenExamples(joined, pictures(30, seed=1)))
    with torch.no_grad():
        figures = learner.judge(batch)
    vae, tokens = learner.module, batch["features"]
    rebuilt = vae(tokens, grid=joined.grid)
    scaled = vae.scale.standardised(rebuilt) - vae.scale.standardised(tokens)
    torch.testing.assert_close(figures["rebuild_error"], scaled.square().mean((1, 2)) / vae.token_variance)
    torch.testing.assert_close(figures["explained"], 1 - figures["rebuild_error"])
    wanted = (joined.read(rebuilt) - batch["output"]).square().mean(1) / vae.output_variance
    torch.testing.assert_close(figures["task_error"], wanted)


def test_training_lowers_both_errors_on_held_out_images(joined):
    learner = learner_for(joined, kl_weight=0.01)
    held_out = TokenExamples(joined, mixtures(40, seed=2))
    examples = TokenExamples(joined, mixtures(300, seed=1))
    learner.prepare(examples)
    start = judge(learner, held_out, batch_size=20)
    settings = TrainingSettings(epochs=8, batch_size=20, learning_rate=5e-3)
    trained = train(learner, examples, held_out, settings)
    assert trained.best is not None
    for name in ("rebuild_error", "task_error"):
        assert trained.best.figures[name].mean < start[name].mean
    assert trained.best.figures["explained"].mean > 0


def test_a_larger_kl_weight_buys_fewer_nats(joined):
    examples = TokenExamples(joined, pictures(50))
    found = []
    for weight in (0.01, 1.0):
        learner = learner_for(joined, kl_weight=weight)
        learner.prepare(examples)
        found.append(judge(learner, examples, batch_size=25))
    assert found[1]["kl"].mean < found[0]["kl"].mean
    assert found[1]["rebuild_error"].mean > found[0]["rebuild_error"].mean


@pytest.mark.parametrize("name", ["kl_weight", "task_weight"])
@pytest.mark.parametrize("value", [-1.0, float("nan"), float("inf")])
def test_weights_must_be_finite_and_not_negative(joined, name, value):
    with pytest.raises(InvalidInput, match=rf"{name} must be a finite number >= 0, got {value}"):
        learner_for(joined, **{name: value})


def test_a_bottleneck_in_single_precision_learns_from_a_model_in_double_precision(joined):
    learner = BottleneckLearner(bottleneck_for(joined, **SMALL), joined)
    examples = TokenExamples(joined, pictures(6))
    trained = train(learner, examples, examples, TrainingSettings(epochs=1, batch_size=3))
    assert trained.best is not None
    assert learner.module.token_variance.dtype == torch.float32


def test_one_training_image_is_refused(joined):
    with pytest.raises(InvalidInput, match="features of all 1 training images are the same"):
        learner_for(joined).prepare(TokenExamples(joined, pictures(1)))


def test_a_bottleneck_for_another_head_is_refused(joined):
    with pytest.raises(InvalidInput, match="trained for head 'smooth'"):
        BottleneckLearner(bottleneck_for(small_joined(seed=1), **SMALL), joined)
    with pytest.raises(InvalidInput, match="built for tokens of 12 numbers"):
        BottleneckLearner(BottleneckVAE(12, 1, **SMALL), joined)
