from __future__ import annotations

import dataclasses

from tests.support.directed_results import directed_pair
from tests.support.html_checks import read_page
from tests.support.report_results import combination, material
from vitgeom.report.combination import Failure
from vitgeom.report.directions_section import paint_directions
from vitgeom.report.directions_verdict import decoder_sentence
from vitgeom.report.gallery import paint_gallery
from vitgeom.report.material import Material
from vitgeom.report.metrics import summary
from vitgeom.report.page import render_page, sections

PAIRS = (directed_pair(), directed_pair(dataset="photos", silent=("cls",)))
SHOWN = dataclasses.replace(
    material(combination()),
    directed=PAIRS,
    undirected=(Failure("scenes", "nano", "Of <earlier> weights."),),
)


def page(shown: Material) -> str:
    return render_page(shown, gallery=paint_gallery(shown))


def words(html: str) -> str:
    return " ".join(" ".join(read_page(html).texts).split()).replace("\N{NO-BREAK SPACE}", " ")


def test_the_section_stands_behind_fusion_and_holds_everything() -> None:
    html = page(SHOWN)
    assert html.index('id="fusion"') < html.index('id="directions"') < html.index('id="tables"')
    assert ("directions", "Directions and tokens") in sections(SHOWN)
    text = words(html)
    for pair in PAIRS:
        for one in pair.decoders:
            assert decoder_sentence(one) in text
        assert f"Bounds of the theory: {pair.label}" in text
    for part in (
        "Which kind of problem each decoder poses",
        "about one third",
        "What follows:",
        "no reaction: 3 of 3",
    ):
        assert part in text
    assert "scenes × nano not diagnosed Of <earlier> weights." in text


def test_a_page_without_such_results_has_no_such_section() -> None:
    shown = material(combination())
    assert "Directions and tokens" not in words(page(shown))
    assert "directions" not in dict(sections(shown))
    assert paint_gallery(shown).directions == {}


def test_a_failure_alone_needs_no_picture() -> None:
    shown = dataclasses.replace(material(combination()), undirected=SHOWN.undirected)
    assert paint_directions(shown) == {}
    assert "No decoder was diagnosed." in words(page(shown))


def test_decoders_that_do_not_react_have_no_curves() -> None:
    names = set(paint_directions(SHOWN))
    assert {"regimes", "captured-1-1", "spectrum-1-1", "density-1-1", "tokens-1-1", "captured-2-2"} <= names
    assert not {"captured-2-1", "spectrum-2-1", "density-2-1"} & names


def test_machines_are_told_the_same() -> None:
    first, second = summary(SHOWN)["directions"]
    assert first["violated_bounds"] == []
    assert list(first["decoders"]) == ["cls-layer4", "cls-layer8", "patch_mean-layer8"]
    one = PAIRS[0].decoders[0].value("kappa")
    assert one is not None
    told = first["decoders"]["cls-layer4"]
    assert told["kappa"] == one.to_json()
    assert (told["flat_spectrum"], told["images"], told["directions"]) == (0.25, 3, 3)
    assert second["decoders"]["cls-layer4"]["kappa"] is None
