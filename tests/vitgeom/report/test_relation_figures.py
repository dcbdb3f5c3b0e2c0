from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.support.report_results import combination, corrections
from vitgeom.report.drawing import Drawing
from vitgeom.report.relation_figures import correction_shares, layer_agreement

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: Drawing) -> list[str]:
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(drawing.standalone()).iter(f"{SVG}text")
    ]


def opacities(drawing: Drawing) -> list[float]:
    return [float(value) for value in re.findall(r"opacity: ([\d.]+)", drawing.body)]


def test_bars_have_a_unit_and_the_words_hold_every_share() -> None:
    drawing = correction_shares(combination(), name="x")
    assert {"share of the corrections (%)", "layer", "even spread"} <= set(texts(drawing))
    for layer in (1, 2, 3, 4):
        assert f"layer {layer} 25.0 % (20.0 to 30.0 %)" in drawing.description
    assert "57 test errors" in drawing.description
    assert "Even spread: 25.0 %" in drawing.description
    assert "Entropy, 1 = even: 0.93 (0.89 to 0.97)" in drawing.description


def test_one_earlier_layer_has_no_entropy() -> None:
    pair = combination(accuracies=(0.6, 0.8), best_layer=2)
    assert pair.corrections == corrections(1)
    assert "1 = even: not defined" in correction_shares(pair, name="x").description


def test_cells_are_as_dark_as_the_layers_agree() -> None:
    pair = combination()
    assert pair.diversity is not None
    shown = opacities(layer_agreement(pair, name="x"))
    # 25 squares of the map, five of the scale; full opacity is written as no opacity at all, and nought as 0.
    expected = [value for row in pair.diversity.agreement_by_pair for value in row if value < 1]
    assert sorted(shown) == pytest.approx(sorted([*expected, 0, 0.25, 0.5, 0.75]))


def test_the_words_say_who_agrees_with_the_last_layer() -> None:
    drawing = layer_agreement(combination(), name="x")
    assert "layer 1 26.0 %, layer 2 42.0 %, layer 3 58.0 %, layer 4 74.0 %" in drawing.description
    assert "360 test images" in drawing.description
    assert {"0 %", "50 %", "100 %"} <= set(texts(drawing))
