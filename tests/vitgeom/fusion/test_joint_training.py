from __future__ import annotations

import torch

from vitgeom.fusion.decorrelated import Factors
from vitgeom.fusion.encoder import EncoderHead, initial_models
from vitgeom.fusion.joint_training import Trained, TrainingSettings, train_jointly
from vitgeom.fusion.orthogonality import orthogonality
from vitgeom.seeding import generator_for


def ring(num_rows: int, seed: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Return points and whether they lie outside of a circle: nothing that a linear encoder could tell."""
    u = torch.randn(num_rows, 2, generator=generator_for(seed, "ring"))
    return u, (u.square().sum(dim=1) > 1.4).long()


def start(seeds: list[int]) -> EncoderHead:
    factors = Factors(torch.eye(2, dtype=torch.float64), torch.zeros(2, 2, dtype=torch.float64))
    return initial_models(
        factors,
        torch.zeros(2, dtype=torch.float64),
        hidden_dim=32,
        generators=[generator_for(seed, "encoder") for seed in seeds],
    )


def trained(seeds: list[int], on_epoch=None, **changes) -> Trained:
    settings = {
        "orth_weight": 0.1,
        "l2": 1e-3,
        "dropout": 0.1,
        "learning_rate": 1e-2,
        "max_epochs": 40,
        "patience": 40,
        "batch_size": 64,
    } | changes
    u, target = ring(400, 0)
    u_val, val_target = ring(200, 1)
    generators = [generator_for(seed, "encoder") for seed in seeds]
    return train_jointly(
        start(seeds),
        u,
        target,
        u_val=u_val,
        val_target=val_target,
        settings=TrainingSettings(**settings),
        generators=generators,
        on_epoch=on_epoch,
    )


def test_hidden_units_learn_what_the_linear_start_cannot():
    result = trained([0])

    assert float(result.start_loss[0]) > 0.69
    assert float(result.val_loss[0]) < 0.35


def test_seeds_side_by_side_equal_the_seeds_one_by_one():
    together = trained([3, 4])

    for place, seed in enumerate([3, 4]):
        alone = trained([seed])
        assert int(alone.epoch[0]) == int(together.epoch[place])
        torch.testing.assert_close(alone.models.head[0], together.models.head[place], rtol=1e-3, atol=1e-4)


def test_the_same_seed_gives_the_same_weights():
    one, two = trained([0]), trained([0])

    assert all(
        torch.equal(a, b) for a, b in zip(one.models.parameters(), two.models.parameters(), strict=True)
    )


def test_no_epoch_leaves_the_start_as_it_is():
    result = trained([0], max_epochs=0)

    assert int(result.epoch[0]) == 0
    assert torch.equal(result.models.direct, start([0]).direct)
    assert torch.equal(result.val_loss, result.start_loss)


def test_the_kept_state_is_that_of_the_least_validation_loss():
    long = trained([0], learning_rate=0.3, max_epochs=30, patience=30)
    models, (u_val, target) = long.models, ring(200, 1)
    logits = models.logits(models.latents(u_val[None]))[0].double()

    loss = float(torch.nn.functional.cross_entropy(logits, target))

    assert abs(loss - float(long.val_loss[0])) < 1e-6
    assert float(long.val_loss[0]) <= float(long.start_loss[0])


def test_the_orthogonality_term_brings_correlations_down():
    u, _ = ring(400, 0)

    def correlation(weight: float) -> float:
        models = trained([0], orth_weight=weight, max_epochs=15, patience=15).models
        return float(orthogonality(models.latents(u[None]))[0])

    assert correlation(1.0) < 0.5 * correlation(0.0)


def test_rows_of_unknown_classes_are_left_out_of_validation():
    u, target = ring(100, 0)
    result = train_jointly(
        start([0]),
        u,
        target,
        u_val=u[:3],
        val_target=torch.tensor([-1, -1, -1]),
        settings=TrainingSettings(0.1, 1e-3, 0.0, 1e-2, 5, 2, 64),
        generators=[generator_for(0, "encoder")],
    )

    assert int(result.epoch[0]) == 0, "nothing to judge by: the start stays"


def test_each_epoch_is_told_from_the_start_on():
    told = []

    def listen(epoch, standing):
        told.append((epoch, standing.loss.clone(), standing.accuracy.clone()))
        return True

    result = trained([0, 1], on_epoch=listen, max_epochs=5)

    assert [epoch for epoch, _, _ in told] == list(range(6))
    losses = torch.stack([loss for _, loss, _ in told])
    torch.testing.assert_close(losses.min(dim=0).values, result.val_loss)
    assert losses.argmin(dim=0).tolist() == result.epoch.tolist()
    u_val, val_target = ring(200, 1)
    best = result.models.logits(result.models.latents(u_val.expand(2, -1, -1))).argmax(dim=2)
    accuracy = torch.stack([told[int(epoch)][2][place] for place, epoch in enumerate(result.epoch)])
    torch.testing.assert_close(accuracy, (best == val_target).double().mean(dim=1))


def test_without_a_known_class_nothing_is_told_but_that():
    told = []
    u, target = ring(60, 0)
    train_jointly(
        start([0]),
        u,
        target,
        u_val=u[:4],
        val_target=torch.full((4,), -1),
        settings=TrainingSettings(0.0, 1e-3, 0.0, 1e-2, 2, 5, 60),
        generators=[torch.Generator().manual_seed(0)],
        on_epoch=lambda epoch, standing: told.append(standing) is None,
    )

    assert len(told) == 3
    assert all(bool(one.loss.isnan().all() and one.accuracy.isnan().all()) for one in told)


def test_listening_changes_nothing_and_false_ends_the_training():
    silent = trained([0], max_epochs=6)
    heard = trained([0], max_epochs=6, on_epoch=lambda epoch, standing: True)
    cut = trained([0], max_epochs=6, on_epoch=lambda epoch, standing: epoch < 2)
    short = trained([0], max_epochs=6, on_epoch=lambda epoch, standing: False)

    assert torch.equal(heard.models.head, silent.models.head)
    assert int(cut.epoch) <= 2
    assert int(short.epoch) == 0
    assert torch.equal(short.val_loss, short.start_loss)
