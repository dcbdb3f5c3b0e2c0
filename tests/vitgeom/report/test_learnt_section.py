from __future__ import annotations

import dataclasses

import pytest

from tests.support.html_checks import read_page
from tests.support.learnt_results import learnt_pair
from tests.support.report_results import combination, material
from vitgeom.errors import InvalidInput
from vitgeom.report.combination import Failure
from vitgeom.report.gallery import paint_gallery
from vitgeom.report.learnt_section import paint_learnt
from vitgeom.report.learnt_verdict import learnt_headline, learnt_statements
from vitgeom.report.material import Material
from vitgeom.report.metrics import summary
from vitgeom.report.page import render_page, sections

PAIRS = (learnt_pair(), learnt_pair(dataset="photos", decoders=(("cls", 4),)))
SHOWN = dataclasses.replace(
    material(combination()),
    learnt=PAIRS,
    unlearnt=(Failure("scenes", "nano", "NumericalFailure: the loss is <nan>."),),
)


def page(shown: Material) -> str:
    return render_page(shown, gallery=paint_gallery(shown))


def words(html: str) -> str:
    return " ".join(" ".join(read_page(html).texts).split()).replace("\N{NO-BREAK SPACE}", " ")


def test_the_section_stands_behind_fusion_and_holds_everything() -> None:
    html = page(SHOWN)
    assert html.index('id="fusion"') < html.index('id="learnt"') < html.index('id="tables"')
    assert ("learnt", "What models learn of directions and tokens") in sections(SHOWN)
    text = words(html)
    assert learnt_headline(PAIRS) in text
    for pair in PAIRS:
        for one in pair.decoders:
            for statement in learnt_statements(one):
                assert statement.words in text
    for part in (
        "0.998",
        "Near its ceiling: the whole 95 % interval",
        "Ranks that were tried: depth map from layer 8",
    ):
        assert part in text
    assert "scenes × nano not learnt NumericalFailure: the loss is <nan>." in text


def test_the_answer_comes_before_pictures_and_these_before_tables() -> None:
    html = page(dataclasses.replace(material(combination()), learnt=PAIRS[:1]))
    section = html[html.index('id="learnt"') :]
    order = ['class="lead"', 'class="cards"', "<svg", "how scores rank patches"]
    places = [section.index(part) for part in order]
    assert places == sorted(places)


def test_a_page_without_such_results_has_no_such_section() -> None:
    shown = material(combination())
    assert "What models learn" not in words(page(shown))
    assert "learnt" not in dict(sections(shown))
    assert paint_gallery(shown).learnt == {}
    assert summary(shown)["learnt"] == []


def test_a_failure_alone_needs_no_picture() -> None:
    shown = dataclasses.replace(material(combination()), unlearnt=SHOWN.unlearnt)
    assert paint_learnt(shown) == {}
    text = words(page(shown))
    assert "No metric was learnt." in text
    assert "0.998" not in text


def test_drawings_are_those_of_what_was_learnt() -> None:
    assert set(paint_learnt(SHOWN)) == {
        "alignment-1", "rho-1-1", "rho-1-2", "rho-1-3", "rho-2-1", "ranks-1-2", "bottleneck-1-3",
        "learnt-tokens-1-1", "learnt-tokens-1-2", "learnt-tokens-2-1",
    }  # fmt: skip
    assert {drawing.name for drawing in paint_gallery(SHOWN).drawings()} >= set(paint_learnt(SHOWN))


def test_what_has_nothing_to_draw_is_still_told() -> None:
    one = PAIRS[1].decoders[0]
    maps = tuple(dataclasses.replace(shown, learnt={}) for shown in one.maps)
    nothing = dict.fromkeys(one.ceiling)
    bare = dataclasses.replace(one, models={}, scores=dict.fromkeys(one.scores, nothing), maps=maps)
    shown = dataclasses.replace(SHOWN, learnt=(dataclasses.replace(PAIRS[1], decoders=(bare,)),))
    assert paint_learnt(shown) == {}
    assert "no model" in words(page(shown))


def test_a_pair_is_shown_once() -> None:
    with pytest.raises(InvalidInput, match="may be reported once, got twice: digits × nano_supervised"):
        dataclasses.replace(SHOWN, learnt=(PAIRS[0], PAIRS[0]))


def test_machines_are_told_the_same() -> None:
    first, second = summary(SHOWN)["learnt"]
    assert list(first["decoders"]) == ["cls-layer4", "scenes_depth-layer8", "patch_mean-layer8"]
    assert second["decoders"]["cls-layer4"]["rho"]["importance"]["importance"]["value"] == 0.93
