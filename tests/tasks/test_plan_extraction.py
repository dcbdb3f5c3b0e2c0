"""What is planned: an address, an empty store, and exactly the missing ranges."""

from __future__ import annotations

from pathlib import Path

import pytest

from tasks.extract_features import run
from tasks.opened import opened_backbone
from tasks.plan_extraction import plan
from tests.support.small_extraction import BACKBONE, NO_CLASS_TOKEN, TOKEN_LAYERS, noise, settings
from vitgeom.backbones import Backbone, BackboneRef
from vitgeom.errors import InvalidInput
from vitgeom.store.features import open_features


def test_the_requests_cover_every_row_once(tmp_path: Path) -> None:
    work = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings())
    rows = [(request.split, row) for request in work.requests for row in range(request.start, request.stop)]
    expected = {("train", row) for row in range(36)} | {
        (split, row) for split in ("val", "test") for row in range(12)
    }
    assert len(rows) == len(set(rows)) == work.num_images == work.num_missing == 60
    assert set(rows) == expected
    assert work.total_ranges == len(work.requests) == 5 + 2 + 2
    assert work.classes == ("0", "1", "2")


def test_planning_again_changes_nothing_and_lists_only_what_is_missing(tmp_path: Path) -> None:
    first = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings())
    run(first.requests[0])
    second = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings())
    assert second.address == first.address
    assert second.requests == first.requests[1:]
    assert second.total_ranges == 9
    assert second.num_missing == 60 - (first.requests[0].stop - first.requests[0].start)


@pytest.mark.parametrize(
    "change",
    [
        {"storage": "float16"},
        {"precision": "bfloat16"},
        {"tokens": ("mean",)},
        {"token_layers": (4,)},
        {"image_size": 24},
    ],
)
def test_what_changes_the_numbers_changes_the_address(tmp_path: Path, change: dict[str, object]) -> None:
    first = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings())
    assert plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(**change)).address != first.address


@pytest.mark.parametrize("change", [{"batch_size": 9}, {"threads": 2}, {"rows_per_range": 5}])
def test_how_it_is_computed_does_not_change_the_address(tmp_path: Path, change: dict[str, object]) -> None:
    first = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings())
    assert plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(**change)).address == first.address


def test_data_and_weights_change_the_address(tmp_path: Path) -> None:
    plans = [
        plan(noise(), BACKBONE, store=str(tmp_path), settings=settings()),
        plan(noise(seed=1), BACKBONE, store=str(tmp_path), settings=settings()),
        plan(
            noise(),
            BackboneRef.from_options("nano_supervised", pretrained=False, image_size=16, seed=1),
            store=str(tmp_path),
            settings=settings(),
        ),
    ]
    assert len({work.address for work in plans}) == 3


def test_ranges_that_are_there_are_kept_whatever_is_asked(tmp_path: Path) -> None:
    first = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(rows_per_range=8))
    run(first.requests[0])
    second = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(rows_per_range=16))
    assert second.requests == first.requests[1:]


def test_rows_per_range_follow_from_the_data_if_not_given(tmp_path: Path) -> None:
    work = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(rows_per_range=None))
    assert open_features(tmp_path, work.address).rows_per_range == 64


def test_the_class_token_of_a_model_without_one_is_refused_before_any_image(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backbone, "preprocess", lambda self, image: pytest.fail("an image was decoded"))
    with pytest.raises(
        InvalidInput, match=r"asks for the class token, but backbone .* has none. Use tokens='mean'"
    ):
        plan(noise(), NO_CLASS_TOKEN, store=str(tmp_path), settings=settings(tokens=("cls",)))
    work = plan(noise(), NO_CLASS_TOKEN, store=str(tmp_path), settings=settings(tokens=("mean",)))
    assert work.num_missing == 60


def test_an_unknown_token_layer_is_refused_before_any_image_and_leaves_no_store(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Backbone, "preprocess", lambda self, image: pytest.fail("an image was decoded"))
    with pytest.raises(InvalidInput, match=r"names layer 13, but backbone .* has the layers 1\.\.12"):
        plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(token_layers=(1, 13)))
    assert list(tmp_path.iterdir()) == []


def test_tokens_count_in_the_bytes_and_in_the_footprint(tmp_path: Path) -> None:
    without = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings())
    chosen = settings(token_layers=TOKEN_LAYERS)
    with_tokens = plan(noise(), BACKBONE, store=str(tmp_path), settings=chosen)
    assert with_tokens.description["token_layers"] == [0, 11]
    assert with_tokens.num_bytes - without.num_bytes == 60 * 2 * 5 * 96 * 4
    assert [work.requests[0].footprint.token_layers for work in (without, with_tokens)] == [0, 2]


def test_an_illegal_image_size_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="image_size=17x17 does not fit backbone"):
        plan(noise(), BACKBONE, store=str(tmp_path), settings=settings(image_size=17))


def test_the_footprint_is_that_of_the_backbone(tmp_path: Path) -> None:
    size = plan(noise(), BACKBONE, store=str(tmp_path), settings=settings()).requests[0].footprint
    model = opened_backbone(BACKBONE.to_json(), device="cpu")
    assert (size.num_layers, size.width, size.num_tokens, size.image_pixels) == (12, 96, 5, 256)
    assert size.weight_bytes == 4 * sum(parameter.numel() for parameter in model.model.parameters())
