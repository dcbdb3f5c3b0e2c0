from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.metric import SpectralPullbackNetwork
from vitgeom.seeding import generator_for


def features(images: int = 2, tokens: int = 5, width: int = 6) -> torch.Tensor:
    return torch.randn(images, tokens, width, generator=generator_for(0, "features", images, tokens))


def network(rank: int = 3, **options: int) -> SpectralPullbackNetwork:
    return SpectralPullbackNetwork(6, rank, hidden=16, heads=2, **options)


def test_it_gives_a_metric_per_image() -> None:
    metric = network()(features())
    assert metric.directions.shape == (2, 5, 6, 3)
    u = metric.columns
    torch.testing.assert_close(u.mT @ u, torch.eye(3).expand(2, 3, 3), rtol=0, atol=1e-5)
    assert (metric.energies > 0).all()
    assert (metric.energies.diff(dim=1) <= 0).all()


@pytest.mark.parametrize("tokens", [2, 5, 40])
def test_any_number_of_tokens_fits(tokens: int) -> None:
    metric = network()(features(tokens=tokens))
    torch.testing.assert_close(metric.columns.mT @ metric.columns, torch.eye(3).expand(2, 3, 3), rtol=0, atol=1e-5)  # fmt: skip


def test_patches_may_change_places_and_take_their_directions_along() -> None:
    net, x = network(), features(tokens=9)
    with torch.no_grad():
        net.entry.place.weight.zero_()  # told their places, they could not
    order = torch.cat([torch.zeros(1, dtype=torch.int64), 1 + torch.randperm(8, generator=generator_for(0, "p"))])  # fmt: skip
    one, other = net(x), net(x[:, order])
    overlap = (one.directions[:, order].flatten(1, 2).mT @ other.columns).square().sum(dim=(1, 2)) / 3
    assert (overlap > 1 - 1e-4).all()
    torch.testing.assert_close(one.energies, other.energies, rtol=1e-4, atol=0)
    torch.testing.assert_close(one.token_importance()[:, order], other.token_importance(), rtol=2e-2, atol=1e-3)  # fmt: skip


def test_directions_depend_on_the_place_and_the_grid() -> None:
    net, x = network(), torch.ones(1, 13, 6)
    wide, tall = (net(x, grid=grid).token_importance() for grid in ((2, 6), (6, 2)))
    assert not torch.allclose(wide, tall, atol=1e-4)
    assert torch.equal(net(x).energies, net(x, grid=(3, 4)).energies)
    with pytest.raises(InvalidInput, match="grid must hold the 12 patches, got 5 x 2"):
        net(x, grid=(5, 2))


def test_images_do_not_see_each_other() -> None:
    net, x = network(), features()
    torch.testing.assert_close(net(x[:1]).directions, net(x).directions[:1], rtol=1e-4, atol=1e-5)


def test_the_prefix_is_known_and_may_be_absent() -> None:
    net, bare = network(num_prefix=2), network(num_prefix=0)
    with torch.no_grad():
        before = net(features()).token_importance()
        net.entry.kind[0, :8] += 1.0
    assert not torch.allclose(net(features()).token_importance(), before)
    assert bare(features()).energies.isfinite().all()


def test_one_output_moves_the_energies_of_all_modes() -> None:
    net = network()
    net.scale.fit(torch.tensor([[3.0, 1.0, -8.0]]))
    torch.testing.assert_close(net(features()).energies, torch.tensor([3.0, 1.0, -8.0]).exp().expand(2, -1))
    with torch.no_grad():
        net.energies[-1].bias[0] = 2.0
    ratio = net(features()).energies / torch.tensor([3.0, 1.0, -8.0]).exp()
    torch.testing.assert_close(ratio, ratio[:1, :1].expand(2, 3))
    assert ratio[0, 0] > 2


def test_weights_depend_on_the_seed_alone() -> None:
    state = torch.random.get_rng_state()
    one, same, other = network(), network(), network(seed=1)
    assert torch.equal(torch.random.get_rng_state(), state)
    assert all(torch.equal(a, b) for a, b in zip(one.parameters(), same.parameters(), strict=True))
    assert not torch.equal(one.directions.weight, other.directions.weight)


def test_a_projection_that_lost_its_rank_still_gives_a_metric_and_a_gradient() -> None:
    net = network()
    with torch.no_grad():
        net.directions.weight.zero_()
        net.directions.bias.fill_(1.0)
    metric = net(features())
    torch.testing.assert_close(metric.columns.mT @ metric.columns, torch.eye(3).expand(2, 3, 3), rtol=0, atol=1e-5)  # fmt: skip
    (metric.columns[:, :4].square().sum() + metric.energies.log().sum()).backward()
    assert all(weight.grad.isfinite().all() for weight in net.parameters())
    assert max(float(weight.grad.norm()) for weight in net.parameters()) < 1e5


def test_directions_stay_in_single_precision_under_autocast() -> None:
    with torch.autocast("cpu", dtype=torch.bfloat16):
        metric = network()(features())
    assert metric.directions.dtype == metric.energies.dtype == torch.float32
    torch.testing.assert_close(metric.columns.mT @ metric.columns, torch.eye(3).expand(2, 3, 3), rtol=0, atol=1e-5)  # fmt: skip


@pytest.mark.parametrize("name", ["dim", "rank", "hidden", "heads", "blocks"])
def test_numbers_below_one_are_refused(name: str) -> None:
    numbers = {"dim": 6, "rank": 3, "hidden": 16, "heads": 2, "blocks": 1, name: 0}
    with pytest.raises(InvalidInput, match=f"{name} must be a whole number >= 1, got 0"):
        SpectralPullbackNetwork(**numbers)


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="heads must divide hidden, got heads=3, hidden=16"):
        SpectralPullbackNetwork(6, 3, hidden=16, heads=3)
    with pytest.raises(InvalidInput, match="num_prefix must be a whole number >= 0"):
        network(num_prefix=-1)
    with pytest.raises(InvalidInput, match="rank must be at most N D = 12, got 13"):
        network(rank=13)(features(tokens=2))
    with pytest.raises(InvalidInput, match=r"features must be \[images, tokens, 6\], got \[2, 5, 7\]"):
        network()(features(width=7))
    broken = features()
    broken[1, 2, 3] = torch.nan
    with pytest.raises(InvalidInput, match=r"features of images \[1\] of the batch are not finite"):
        network()(broken)


def test_as_many_directions_as_coordinates_are_all_of_them() -> None:
    metric = network(rank=12)(features(tokens=2))
    v = features(tokens=2)
    torch.testing.assert_close(metric.coordinates(v).square().sum(dim=1), v.square().sum(dim=(1, 2)), rtol=1e-4, atol=0)  # fmt: skip
