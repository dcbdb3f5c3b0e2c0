from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.metric import ImportanceHead
from vitgeom.seeding import generator_for


def features(images: int = 2, tokens: int = 5, width: int = 6) -> torch.Tensor:
    return torch.randn(images, tokens, width, generator=generator_for(0, "features", images, tokens))


def head(**options: int) -> ImportanceHead:
    return ImportanceHead(6, hidden=16, heads=2, inner=8, **options)


def test_it_has_about_310_000_parameters_at_width_768() -> None:
    assert 290_000 < sum(weight.numel() for weight in ImportanceHead(768).parameters()) < 330_000


@pytest.mark.parametrize("tokens", [2, 5, 300])
def test_every_token_of_any_grid_gets_a_positive_importance(tokens: int) -> None:
    found = head()(features(tokens=tokens))
    assert found.shape == (2, tokens)
    assert (found > 0).all()


def test_it_starts_around_the_typical_importance_of_each_kind() -> None:
    net = head()
    wanted = torch.tensor([[50.0, 1e-4, 0.0], [50.0, 1e-6, 1e-5]])
    net.fit_importance(wanted)
    torch.testing.assert_close(net.log_importance, torch.tensor([50.0, 1e-5]).log())
    with torch.no_grad():
        net.read[-1].weight.zero_()
        net.read[-1].bias.zero_()
    torch.testing.assert_close(net(features()), torch.tensor([50.0, 1e-5, 1e-5, 1e-5, 1e-5]).expand(2, -1))
    net.fit_importance(torch.zeros(2, 3))
    assert net.log_importance.tolist() == [0.0, 0.0]


def test_patches_may_change_places() -> None:
    net, x = head(), features(tokens=9)
    with torch.no_grad():
        net.entry.place.weight.zero_()  # told their places, they could not
    order = torch.cat([torch.zeros(1, dtype=torch.int64), 1 + torch.randperm(8, generator=generator_for(0, "p"))])  # fmt: skip
    torch.testing.assert_close(net(x[:, order]), net(x)[:, order], rtol=1e-4, atol=1e-6)


def test_importance_depends_on_the_place() -> None:
    net, x = head(), torch.ones(1, 13, 6)
    assert not torch.allclose(net(x, grid=(2, 6)), net(x, grid=(6, 2)), atol=1e-4)
    assert torch.equal(net(x), net(x, grid=(3, 4)))


def test_importance_stays_positive_and_finite_where_the_net_says_never() -> None:
    net = head()
    with torch.no_grad():
        net.read[-1].bias.fill_(-1e4)
    assert (net(features()) > 0).all()
    assert net(features()).log().isfinite().all()


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(InvalidInput, match="heads must divide hidden"):
        ImportanceHead(6, hidden=16, heads=3)
    with pytest.raises(InvalidInput, match="inner must be a whole number >= 1"):
        ImportanceHead(6, inner=0)
    with pytest.raises(InvalidInput, match="made for tokens of width 6"):
        head()(features(width=7))
