from __future__ import annotations

import dataclasses

import pytest

from tests.support.browser import CHROMIUM, measure
from tests.support.directed_results import directed_pair
from tests.support.learnt_results import learnt_pair
from tests.support.report_results import combination, material, no_errors, not_beyond_chance
from vitgeom.report.combination import Failure
from vitgeom.report.gallery import paint_gallery
from vitgeom.report.page import render_page

pytestmark = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium here; install it to check the layout of the report"
)


@pytest.fixture(scope="module")
def page() -> str:
    deep = combination(
        backbone="vit_small_patch14_reg4_dinov2.lvd142m",
        accuracies=[0.3 + 0.05 * i for i in range(12)],
        best_layer=11,
    )
    failed = Failure("photos", "nano_selfsup", "StoreError: s3://bucket/" + "x" * 90)
    shown = material(combination(), deep, no_errors(), not_beyond_chance(), failed=[failed])
    directed = directed_pair(
        decoders=(("cls", 4), ("a_decoder_of_ones_own", 8)), local=("a_decoder_of_ones_own",)
    )
    shown = dataclasses.replace(shown, directed=(directed,), learnt=(learnt_pair(),))
    return render_page(shown, gallery=paint_gallery(shown))


@pytest.mark.parametrize("width", [340, 1200])
def test_nothing_overflows_is_clipped_or_overlaps(page: str, width: int) -> None:
    seen = measure(page, width=width)
    assert seen["pageWidth"] <= seen["frameWidth"]
    assert seen["clipped"] == []
    assert seen["overlaps"] == []
    assert seen["resources"] == 0
    # the height of a line of text, about 1.15 font sizes
    assert min(seen["texts"]) >= 10.9


def test_page_follows_the_scheme_of_the_reader(page: str) -> None:
    assert measure(page, width=800)["background"] == "rgb(255, 255, 255)"
    assert measure(page, width=800, dark=True)["background"] == "rgb(20, 24, 29)"
