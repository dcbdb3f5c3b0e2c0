from __future__ import annotations

import dataclasses

from tests.support.fused_results import across, fused_pair
from tests.support.html_checks import read_page
from tests.support.report_results import combination, material
from vitgeom.report.combination import Failure
from vitgeom.report.fusion_section import EMPTY, fusion_blocks
from vitgeom.report.fusion_verdict import fusion_sentence
from vitgeom.report.gallery import paint_gallery
from vitgeom.report.material import Material
from vitgeom.report.page import render_page


def words(shown: Material) -> str:
    html = "".join(fusion_blocks(shown, paint_gallery(shown).methods))
    return " ".join(" ".join(read_page(html).texts).split())


def test_each_pair_has_its_sentence_picture_and_table() -> None:
    shown = dataclasses.replace(
        material(combination()),
        fused=(fused_pair(), fused_pair(dataset="photos")),
        across=(across(),),
        unfused=(Failure("scenes", "nano", "StoreError: <full>"),),
    )
    text = words(shown)
    for pair in shown.fused:
        assert fusion_sentence(pair) in text
        assert f"Method by method: {pair.label}" in text
    assert "HFusion on all backbones at once" in text
    assert "scenes × nano not fused StoreError: <full>" in text
    assert text.index("Paper / here") < text.index("Method by method")
    html = render_page(shown, gallery=paint_gallery(shown))
    assert html.index('id="pictures"') < html.index('id="fusion"') < html.index('id="tables"')


def test_without_any_comparison_the_page_says_so() -> None:
    assert words(material(combination())) == EMPTY
