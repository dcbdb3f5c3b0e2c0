"""One range of diagnosed images: against the dense Jacobian, the same bytes in whatever pieces, and nothing twice."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tasks import make_targets
from tasks.engine import SerialEngine
from tasks.opened import opened_backbone, opened_images
from tasks.plan_targets import plan_targets
from tests.support.small_extraction import BACKBONE, noise, stored_bytes
from tests.support.small_targets import CLS, MEAN, make, settings
from vitgeom.decoders import load_decoder
from vitgeom.errors import InvalidInput, NumericalFailure
from vitgeom.store.figures import read_figures
from vitgeom.store.targets import TargetStore, open_targets


def opened(folder: Path, **options: Any) -> TargetStore:
    [receipt] = make(folder, **options).values()
    return open_targets(folder, receipt.detail["address"])


def dense_jacobian(image: int, *, name: str, layer: int) -> torch.Tensor:
    """J [M, N D] of an image by torch's own reverse mode, in float64 of the same point."""
    backbone = opened_backbone(BACKBONE.to_json(), device="cpu")
    split = opened_images(noise().to_json()).splits["test"]
    bound = load_decoder(name, backbone, layer=layer).at(backbone.preprocess(split.read(image)))
    jacobian = torch.autograd.functional.jacobian(bound, bound.features)
    return jacobian.reshape(-1, bound.features.numel()).double()


@pytest.mark.parametrize("decoder", [CLS, MEAN])
def test_what_is_stored_is_what_the_dense_jacobian_says(tmp_path: Path, decoder: Any) -> None:
    [receipt] = make(tmp_path, decoder).values()
    store = open_targets(tmp_path, receipt.detail["address"])
    images = [
        each["image"] for start, _ in store.ranges("test") for each in read_figures(store, "test", start)
    ]
    for row, image in enumerate(images[:3]):
        dense = dense_jacobian(image, name=decoder.name, layer=decoder.layer)
        _, sigma, right = torch.linalg.svd(dense, full_matrices=False)
        assert store.read("test", "norm_squared")[row] == pytest.approx(float(dense.square().sum()), rel=1e-4)
        assert store.read("test", "singular_values")[row] == pytest.approx(sigma[:3].numpy(), rel=1e-4)
        found = torch.from_numpy(store.read("test", "right_vectors")[row]).double().flatten(0, 1)
        assert torch.linalg.svdvals(right[:3] @ found).min() > 0.99
        width = store.layout.width
        blocks = dense.reshape(len(dense), -1, width).square().sum(dim=(0, 2)).sqrt()
        assert store.read("test", "block_norms")[row] == pytest.approx(blocks.numpy(), rel=1e-3)


def test_tokens_lie_beside_the_directions_that_were_found_at_them(tmp_path: Path) -> None:
    store = opened(tmp_path, checks=False)
    backbone = opened_backbone(BACKBONE.to_json(), device="cpu")
    split = opened_images(noise().to_json()).splits["test"]
    figures = [each for start, _ in store.ranges("test") for each in read_figures(store, "test", start)]
    decoder = load_decoder(CLS.name, backbone, layer=CLS.layer)
    for row, each in enumerate(figures):
        bound = decoder.at(backbone.preprocess(split.read(each["image"])))
        assert np.array_equal(store.read("test", "features")[row], bound.features.numpy())
        assert each["theorems"] == []


def test_every_split_has_its_own_number_of_images(tmp_path: Path) -> None:
    store = opened(tmp_path, splits=("train", "val", "test"), images={"train": 3, "val": 2, "test": 1})
    assert store.splits == {"train": 3, "val": 2, "test": 1}
    with pytest.raises(ValueError, match=r"images of split 'val' must be >= 1, got 0"):
        settings(splits=("train", "val"), images={"train": 3})


def test_pieces_and_their_order_change_no_value(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "a"), opened(tmp_path / "b", rows_per_range=5)
    assert len(one.ranges("test")) == 3
    assert len(other.ranges("test")) == 1
    for spec in one.layout.specs:
        assert np.array_equal(one.read("test", spec.name), other.read("test", spec.name)), spec.name


def test_more_images_leave_the_numbers_of_each_image_alone(tmp_path: Path) -> None:
    few = opened(tmp_path / "a", recipe="krylov", budget=40, images=5)
    many = opened(tmp_path / "b", recipe="krylov", budget=40, images=15)
    common = sorted(set(few.sample_ids("test")) & set(many.sample_ids("test")))
    assert common
    for sample in common:
        rows = [store.sample_ids("test").index(sample) for store in (few, many)]
        assert np.array_equal(
            few.read("test", "importance")[rows[0]], many.read("test", "importance")[rows[1]]
        )


def test_a_second_run_computes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = make(tmp_path)
    before = stored_bytes(tmp_path)
    monkeypatch.setattr(make_targets, "diagnose", None)
    again = make(tmp_path)
    assert [receipt.cached for receipt in (*first.values(), *again.values())] == [False, True]
    assert stored_bytes(tmp_path) == before


def test_lost_figures_are_made_again_with_the_same_bytes(tmp_path: Path) -> None:
    store = opened(tmp_path)
    before = stored_bytes(tmp_path)
    store.root.remove("figures/test/0000000002.json")
    store.root.write_bytes("figures/test/0000000004.json", b'{"images": []}')
    work = plan_targets(noise(), BACKBONE, CLS, store=str(tmp_path), settings=settings())
    assert [(request.start, request.stop) for request in work.requests] == [(2, 4), (4, 5)]
    make(tmp_path)
    assert stored_bytes(tmp_path) == before


def test_directions_that_a_jacobian_has_not_are_zero(tmp_path: Path) -> None:
    # The class token of the last layer depends on the class token's own features alone: no more directions than outputs.
    store = opened(tmp_path, rank=120, images=1)
    found = int(store.read("test", "num_found")[0])
    sigma = store.read("test", "singular_values")[0]
    assert found <= 96 < 120
    assert (sigma[:found] > 0).all()
    assert (sigma[found:] == 0).all()
    assert (store.read("test", "right_vectors")[0, :, :, found:] == 0).all()


def test_a_budget_below_the_rank_is_refused_with_the_least(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="budget"):
        make(tmp_path, recipe="krylov", budget=2)


def test_a_jacobian_that_is_not_finite_stores_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any, **options: Any) -> Any:
        raise NumericalFailure("the product is not finite")

    monkeypatch.setattr(make_targets, "diagnose", broken)
    with pytest.raises(NumericalFailure, match="not finite"):
        make(tmp_path)
    work = plan_targets(noise(), BACKBONE, CLS, store=str(tmp_path), settings=settings())
    assert work.num_missing == 5


def test_memory_grows_with_what_it_should(tmp_path: Path) -> None:
    def memory(**options: Any) -> int:
        work = plan_targets(noise(), BACKBONE, CLS, store=str(tmp_path), settings=settings(**options))
        return make_targets.memory(work.requests[0])

    assert memory(budget=400) > memory()
    assert memory(rank=9) > memory()
    assert memory(max_bytes=2**31) - memory() == 2**30


def test_an_engine_that_fails_once_gives_the_same_bytes(tmp_path: Path) -> None:
    make(tmp_path / "a")
    make(tmp_path / "b", engine=SerialEngine(retries=1))
    assert stored_bytes(tmp_path / "a") == stored_bytes(tmp_path / "b")
