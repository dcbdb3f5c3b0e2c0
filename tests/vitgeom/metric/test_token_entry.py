from __future__ import annotations

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.metric.token_entry import TokenEntry
from vitgeom.seeding import generator_for


def features(count: int = 8, *, seed: int = 0) -> torch.Tensor:
    drawn = torch.randn(count, 5, 4, generator=generator_for(seed, "features"))
    return drawn * torch.tensor([1.0, 300.0, 0.01, 0.0]) + torch.tensor([0.0, 900.0, 2.0, 7.0])


def test_means_and_deviations_are_those_of_all_tokens() -> None:
    entry, x = TokenEntry(4, hidden=6, num_prefix=1), features()
    entry.fit(x.split(3))
    channels = torch.cat([x, x.norm(dim=2, keepdim=True).log()], dim=2).flatten(0, 1).double()
    torch.testing.assert_close(entry.mean.double(), channels.mean(dim=0), rtol=1e-5, atol=1e-6)
    torch.testing.assert_close(entry.deviation[:2].double(), channels[:, :2].std(dim=0, correction=0), rtol=1e-4, atol=0)  # fmt: skip


def test_a_channel_that_never_moves_stays_quiet_when_it_does() -> None:
    entry = TokenEntry(4, hidden=6, num_prefix=1)
    entry.fit([features()])
    moved = features(seed=1)
    moved[:, :, 3] += 0.05  # never seen to move at all
    assert ((moved[:, :, 3] - entry.mean[3]) / entry.deviation[3]).abs().max() < 1
    entry.fit([torch.zeros(2, 5, 4)])
    assert (entry.deviation > 0).all()
    assert entry(torch.zeros(2, 5, 4)).isfinite().all()


def test_prefix_tokens_are_told_from_patches() -> None:
    entry = TokenEntry(4, hidden=6, num_prefix=2)
    with torch.no_grad():
        entry.kind[0] = 1.0
        entry.place.weight.zero_()
    x = torch.ones(1, 5, 4)
    out = entry(x)[0]
    torch.testing.assert_close(out[:2] - out[2:4], torch.ones(2, 6))
    torch.testing.assert_close(out[2], out[4])


def test_the_norm_comes_along_whatever_the_direction() -> None:
    entry = TokenEntry(4, hidden=6, num_prefix=0)
    with torch.no_grad():
        entry.project.weight.zero_()
        entry.project.weight[:, 4] = 1.0
        entry.project.bias.zero_()
        entry.place.weight.zero_()
    x = features()
    torch.testing.assert_close(entry(x), x.norm(dim=2, keepdim=True).log().expand(-1, -1, 6))


@pytest.mark.parametrize("dtype", [torch.float16, torch.float64])
def test_other_precisions_are_brought_to_the_weights(dtype: torch.dtype) -> None:
    assert TokenEntry(4, hidden=6, num_prefix=1)(torch.ones(1, 3, 4, dtype=dtype)).dtype == torch.float32


def test_what_the_weights_say_nothing_about_is_refused() -> None:
    entry = TokenEntry(4, hidden=6, num_prefix=2)
    entry.check(torch.ones(1, 3, 4))
    for shape in ((1, 3, 5), (3, 4), (1, 1, 3, 4)):
        with pytest.raises(InvalidInput, match=r"features must be \[images, tokens, 4\], got"):
            entry.check(torch.ones(shape))
    with pytest.raises(InvalidInput, match="more than 2 tokens, the prefix tokens of this model, got 2"):
        entry.check(torch.ones(1, 2, 4))
    x = torch.ones(4, 3, 4)
    x[1, 0, 0], x[3, 2, 2] = torch.nan, torch.inf
    with pytest.raises(InvalidInput, match=r"features of images \[1, 3\] of the batch are not finite"):
        entry.check(x)


def test_log_norms_are_standardised() -> None:
    entry, x = TokenEntry(4, hidden=6, num_prefix=1), features()
    entry.fit([x])
    found = entry.log_norms(x)
    assert found.shape == (8, 5, 1)
    assert found.mean().item() == pytest.approx(0, abs=1e-3)
    assert found.std(correction=0).item() == pytest.approx(1, rel=1e-3)
    torch.testing.assert_close(
        found, (x.norm(dim=2, keepdim=True).log() - entry.mean[4]) / entry.deviation[4]
    )
