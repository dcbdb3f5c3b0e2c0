from __future__ import annotations

import pytest
import torch

from tests.vitgeom.metric.bottleneck.conftest import pictures, small_bottleneck
from vitgeom.metric.bottleneck import ThroughBottleneck
from vitgeom.metric.bottleneck.compared_image import compare_image


def compared(through: ThroughBottleneck, image: torch.Tensor, **options):
    settings = {"rank": 7, "recipe": "exact", "budget": 200, **options}
    generator = torch.Generator().manual_seed(0)
    return compare_image(through, image, metric="euclidean", generator=generator, **settings)


@pytest.fixture
def through(joined) -> ThroughBottleneck:
    return ThroughBottleneck(joined, small_bottleneck(joined))


def test_the_three_places_are_tokens_tokens_behind_latents_and_latents(joined, through):
    found = compared(through, pictures(1)[0])
    before, after, latent = found.stages
    assert found.statuses == ("exact",) * 3
    assert len(before.kappa_caps_R) == 7  # as many as outputs
    assert len(after.kappa_caps_R) <= 6  # as many as latents
    assert len(latent.kappa_caps_R) <= 6
    assert after.figures["norm"] != pytest.approx(latent.figures["norm"])


def test_errors_are_in_units_of_the_variances(joined, through):
    image = pictures(1)[0]
    once = compared(through, image)
    through.vae.token_variance.fill_(4.0)
    through.vae.output_variance.fill_(0.5)
    again = compared(through, image)
    assert again.rebuild_error == pytest.approx(once.rebuild_error / 4)
    assert again.task_error == pytest.approx(once.task_error * 2)


def test_a_bottleneck_that_forgets_everything_has_no_direction_left(joined):
    """Rank 0 and everything unexplained: the fall alone would look like a success."""
    vae = small_bottleneck(joined)
    with torch.no_grad():
        for weight in (*vae.encoder.linear.parameters(), *vae.encoder.out.parameters()):
            weight.zero_()
    found = compared(ThroughBottleneck(joined, vae), pictures(1)[0])
    assert found.stages[1].figures["norm"] == 0
    assert found.stages[1].figures["entropy_rank"] is None
    assert found.statuses[1] == "none"
    assert found.rebuild_error > 0.5


def test_both_outputs_are_held_against_the_truth(joined, through):
    image = pictures(1)[0]
    features = joined.features_of(image)
    truth = torch.zeros(7, dtype=torch.float64)
    found = compared(
        through, image, truth=truth, truth_figures=lambda out, wanted: {"size": float((out - wanted).norm())}
    )
    wanted = (float(joined(features).norm()), float(through(features).norm()))
    assert found.truth["size"] == pytest.approx(wanted)
    assert compared(through, image).truth == {}
