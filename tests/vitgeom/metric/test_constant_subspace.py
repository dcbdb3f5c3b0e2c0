from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.metric import alignment, constant_subspace
from vitgeom.seeding import generator_for

N, D, R = 5, 4, 3


def targets(count: int, *, common: float = 2.0) -> Tensor:
    """Subspaces that lean towards a common one."""
    shared = torch.randn(N * D, R, generator=generator_for(0, "shared"))
    own = torch.randn(count, N * D, R, generator=generator_for(0, "own", count))
    return torch.linalg.qr(common * shared + own).Q


def batches(v: Tensor, *, size: int = 4, found: Tensor | None = None) -> Iterator[dict[str, Tensor]]:
    found = torch.full((len(v),), v.shape[2]) if found is None else found
    for rows in torch.arange(len(v)).split(size):
        yield {"right_vectors": v[rows].reshape(len(rows), N, D, -1), "num_found": found[rows]}


def exact(v: Tensor, *, rank: int, found: Tensor | None = None) -> tuple[Tensor, float]:
    """Top eigenvectors of the mean projector, formed in full, and the sum of their eigenvalues."""
    counts = torch.full((len(v),), v.shape[2]) if found is None else found
    kept = [(one[:, :m].double(), int(m)) for one, m in zip(v, counts, strict=True) if m > 0]
    whole = sum(one @ one.T / m for one, m in kept) / len(kept)
    values, vectors = torch.linalg.eigh(whole)
    return vectors[:, -rank:], float(values[-rank:].sum())


@pytest.mark.parametrize("size", [1, 4, 30])
def test_with_room_for_everything_it_is_the_eigenvectors_of_the_mean_projector(size: int) -> None:
    v = targets(30)
    u, best = exact(v, rank=R)
    found = constant_subspace(batches(v, size=size), rank=R)
    assert found.captured == pytest.approx(best, rel=1e-6)
    assert found.lacking == pytest.approx(0, abs=1e-6)
    assert float((found.directions.double().T @ u).square().sum() / R) == pytest.approx(1, abs=1e-6)
    assert float(found.alignment(v).mean()) == pytest.approx(best, rel=1e-5)
    assert found.images == 30


@pytest.mark.parametrize("spare", [0, 1, 3, 6])
def test_what_is_cut_away_is_bounded_by_what_it_says(spare: int) -> None:
    v = targets(40, common=0.5)
    _, best = exact(v, rank=R)
    found = constant_subspace(batches(v), rank=R, spare=spare)
    reached = float(found.alignment(v).double().mean())
    assert found.captured - 1e-6 <= reached <= best + 1e-6
    assert best <= found.captured + found.lacking + 1e-6
    assert found.lacking > 0


def test_no_other_constant_subspace_is_better() -> None:
    v = targets(30)
    found = constant_subspace(batches(v), rank=R)
    others = torch.linalg.qr(
        found.directions + 0.1 * torch.randn(20, N * D, R, generator=generator_for(0, "o"))
    ).Q
    for other in others:
        assert alignment(other.expand(30, -1, -1), v).mean() < found.alignment(v).mean()


def test_images_with_fewer_directions_count_as_much_as_others() -> None:
    v = targets(12)
    counts = torch.tensor([0, 1, 2, 3] * 3)
    spoilt = v.clone()
    spoilt[torch.arange(R) >= counts[:, None, None].expand(-1, N * D, R)] = torch.nan
    _, best = exact(v, rank=R, found=counts)
    found = constant_subspace(batches(spoilt, found=counts), rank=R)
    assert found.captured == pytest.approx(best, rel=1e-6)
    assert found.images == 9


def test_one_image_is_its_own_subspace() -> None:
    v = targets(1)
    found = constant_subspace(batches(v), rank=R)
    assert found.captured == pytest.approx(1, abs=1e-6)
    torch.testing.assert_close(found.alignment(v), torch.ones(1), rtol=0, atol=1e-5)


def test_a_higher_rank_than_the_targets_keeps_their_directions() -> None:
    v = targets(2)
    found = constant_subspace(batches(v), rank=6)
    torch.testing.assert_close(found.directions.T @ found.directions, torch.eye(6), rtol=0, atol=1e-5)
    torch.testing.assert_close(found.alignment(v), torch.ones(2), rtol=0, atol=1e-5)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(InvalidInput, match="batches must hold at least one image with a direction"):
        constant_subspace(batches(targets(3), found=torch.zeros(3, dtype=torch.int64)), rank=R)
    with pytest.raises(InvalidInput, match="batches must hold at least one image"):
        constant_subspace([], rank=R)
    with pytest.raises(InvalidInput, match="rank must be a whole number >= 1"):
        constant_subspace([], rank=0)
    with pytest.raises(InvalidInput, match="rank must be at most N D = 20, got 21"):
        constant_subspace(batches(targets(3)), rank=21)
