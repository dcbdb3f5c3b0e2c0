from __future__ import annotations

import dataclasses

from tests.support.html_checks import read_page
from tests.support.report_results import combination, material
from tests.support.shifted_results import shifted_pair
from vitgeom.report.batch_statistics import ASSUMPTION, adapted_headline, adapted_sentence
from vitgeom.report.combination import Failure
from vitgeom.report.gallery import paint_gallery
from vitgeom.report.material import Material
from vitgeom.report.metrics import summary
from vitgeom.report.page import render_page, sections
from vitgeom.report.shift_section import group_sentence, shift_headline, shift_sentence

PAIRS = (shifted_pair(groups=True), shifted_pair(dataset="photos"))
SHOWN = dataclasses.replace(
    material(combination()),
    shifted=PAIRS,
    unshifted=(Failure("scenes", "nano", "Of <earlier> classifiers."),),
)


def page(shown: Material) -> str:
    return render_page(shown, gallery=paint_gallery(shown))


def words(html: str) -> str:
    return " ".join(" ".join(read_page(html).texts).split())


def test_the_section_stands_behind_fusion_and_holds_everything() -> None:
    html = page(SHOWN)
    assert html.index('id="fusion"') < html.index('id="shift"') < html.index('id="tables"')
    assert ("shift", "Under shift") in sections(SHOWN)
    text = words(html)
    for pair in PAIRS:
        assert shift_sentence(pair).replace(" %", "\N{NO-BREAK SPACE}%").split("(")[0] in html
        assert f"Damage by damage: {pair.label}" in text
        assert " ".join(adapted_sentence(pair).split("(")[0].split()) in text.replace(
            "\N{NO-BREAK SPACE}", " "
        )
    assert adapted_headline(PAIRS).split(";")[0] in text
    assert ASSUMPTION.split(".")[0] in text
    assert "Under which damage VFusion is ahead: digits × nano_supervised" in text
    assert "scenes × nano not evaluated under shift Of <earlier> classifiers." in text
    assert "worst sub-population (round on sea)" in text


def test_a_page_without_such_results_has_no_such_section() -> None:
    shown = material(combination())
    assert "Under shift" not in words(page(shown))
    assert ("shift", "Under shift") not in sections(shown)
    assert paint_gallery(shown).shift == {}


def test_pairs_without_batch_statistics_say_so_and_have_no_table_of_them() -> None:
    few = dataclasses.replace(material(combination()), shifted=(shifted_pair(refused=True),))
    text = words(page(few))
    assert "No batch statistics: 400 test images are fewer than 500." in text
    assert ASSUMPTION.split(".")[0] not in text
    assert "against itself as is" not in text


def test_the_headline_counts_pairs() -> None:
    said = shift_headline(PAIRS)
    assert "ahead of the last layer in 2 of 2 pairs" in said
    assert "Sub-populations are named by digits × nano_supervised." in said
    assert shift_headline([]) == "Nothing under shift compares VFusion with the last layer."


def test_sentences_say_what_is_missing() -> None:
    alone = shifted_pair(clean={"vfusion": 0.9}, groups=True)
    assert shift_sentence(alone) == "VFusion and the last layer were not both evaluated on damaged images."
    assert group_sentence(alone) == "VFusion and the last layer were not both evaluated by sub-population."


def test_sub_populations_alone_need_no_picture() -> None:
    shown = dataclasses.replace(material(combination()), shifted=(shifted_pair(damage=(), groups=True),))
    assert paint_gallery(shown).shift == {}
    assert "worst group" in words(page(shown))


def test_machines_are_told_the_same() -> None:
    first, second = summary(SHOWN)["shift"]
    assert first["conditions"] == [
        ["contrast", 1],
        ["contrast", 5],
        ["gaussian_noise", 1],
        ["gaussian_noise", 5],
    ]
    assert first["worst_group"]["vfusion"]["group"] == "round on sea"
    assert second["worst_group"] == {}
    assert set(first["batch_statistics"]["mean_corruption_accuracy"]) == {"last_layer", "stacking", "vfusion"}
    assert set(first["batch_statistics"]["clean_accuracy"]) == {"last_layer", "stacking", "vfusion"}
    assert set(first["mean_corruption_accuracy"]) == {"last_layer", "stacking", "vfusion"}


def test_one_pair_is_singular() -> None:
    assert "in 1 of 1 pair of dataset and backbone" in shift_headline(PAIRS[:1])
