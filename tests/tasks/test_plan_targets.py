from __future__ import annotations

from pathlib import Path

import pytest

from tasks.plan_targets import plan_targets
from tasks.target_request import DecoderRef
from tests.support.small_extraction import BACKBONE, NO_CLASS_TOKEN, noise
from tests.support.small_targets import CLS, MEAN, make, settings
from vitgeom.errors import InvalidInput, UnknownName


def test_each_image_is_asked_for_once(tmp_path: Path) -> None:
    work = plan_targets(noise(), BACKBONE, CLS, store=str(tmp_path), settings=settings())
    assert [(request.start, request.stop) for request in work.requests] == [(0, 2), (2, 4), (4, 5)]
    images = [image for request in work.requests for image in request.images]
    assert len(set(images)) == work.num_images == work.num_missing == 5


def test_how_work_is_cut_and_where_it_runs_change_no_address(tmp_path: Path) -> None:
    def address(**options: object) -> str:
        return plan_targets(noise(), BACKBONE, CLS, store=str(tmp_path), settings=settings(**options)).address

    usual = address()
    assert {
        address(**change) for change in ({"threads": 2}, {"max_bytes": 2**20}, {"rows_per_range": 4})
    } == {usual}
    others = [
        address(**change)
        for change in (
            {"rank": 4},
            {"budget": 100},
            {"seed": 1},
            {"images": 4},
            {"storage": "float16"},
            {"recipe": "krylov"},
        )
    ]
    assert len({usual, *others}) == 7
    assert plan_targets(noise(), BACKBONE, MEAN, store=str(tmp_path), settings=settings()).address != usual


def test_ranges_that_are_there_are_kept(tmp_path: Path) -> None:
    make(tmp_path)
    work = plan_targets(noise(), BACKBONE, CLS, store=str(tmp_path), settings=settings(rows_per_range=5))
    assert (work.requests, work.total_ranges) == ((), 3)


def test_what_cannot_be_is_refused_before_anything_is_made(tmp_path: Path) -> None:
    for decoder, backbone, error, said in (
        (DecoderRef(name="clss", layer=3), BACKBONE, UnknownName, "Did you mean 'cls'"),
        (DecoderRef(name="cls", layer=13), BACKBONE, InvalidInput, "layer"),
        (CLS, NO_CLASS_TOKEN, InvalidInput, "cls"),
    ):
        with pytest.raises(error, match=said):
            plan_targets(noise(), backbone, decoder, store=str(tmp_path), settings=settings())
    with pytest.raises(InvalidInput, match="no split 'tset'; it has"):
        plan_targets(noise(), BACKBONE, CLS, store=str(tmp_path), settings=settings(splits=("tset",)))
    assert not list(tmp_path.iterdir())
