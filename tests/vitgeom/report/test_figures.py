from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable

import pytest

from tests.support.report_results import combination, no_errors, not_beyond_chance, one_layer
from vitgeom.report.combination import Combination
from vitgeom.report.drawing import Drawing
from vitgeom.report.figures import LONGEST_LABEL, accuracy_by_layer, overview, recoverability_by_layer

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: Drawing) -> list[str]:
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(drawing.standalone()).iter(f"{SVG}text")
    ]


@pytest.mark.parametrize(
    ("paint", "unit"),
    [
        (accuracy_by_layer, "test accuracy (%)"),
        (recoverability_by_layer, "share of the last layer's errors (%)"),
    ],
)
def test_axes_have_units_and_the_words_have_n_and_intervals(paint: Callable[..., Drawing], unit: str) -> None:
    pair = combination()
    drawing = paint(pair, name="x")
    assert unit in texts(drawing)
    assert "layer" in texts(drawing)
    assert "95 % interval" in drawing.description
    assert re.search(r"n = 360 test images|the 57 test errors", drawing.description)


def test_words_of_a_drawing_hold_every_number() -> None:
    pair = combination()
    described = accuracy_by_layer(pair, name="x").description
    assert all(
        f"layer {layer.layer} {100 * layer.accuracy.value:.1f} %" in described for layer in pair.layers
    )


def test_marks_lie_where_the_numbers_are() -> None:
    drawing = overview([combination()], name="x")
    uses = [
        (float(x), float(y))
        for x, y in re.findall(r'<use href="[^"]+" x="([\d.]+)" y="([\d.]+)" style="fill: var', drawing.body)
    ]
    ticks = {}
    for node in ElementTree.fromstring(drawing.standalone()).iter(f"{SVG}text"):
        if (node.text or "").isdigit():
            ticks[int(node.text)] = float(node.attrib["x"])
    unit = (ticks[100] - ticks[0]) / 100
    shown = sorted((x - ticks[0]) / unit for x, y in uses)
    for share in (70.0, 38.0, 21.0, 34.4):
        assert min(abs(share - position) for position in shown) < 0.2


def test_each_font_is_readable_on_a_phone() -> None:
    for drawing in (
        accuracy_by_layer(combination(), name="a"),
        recoverability_by_layer(combination(), name="r"),
        overview([combination()], name="o"),
    ):
        width = float(drawing.view_box.split()[2])
        sizes = [float(size) for size in re.findall(r"font(?:-size)?: (\d+(?:\.\d+)?)px", drawing.body)]
        assert sizes
        # 340 CSS pixels are left for a figure on a narrow phone
        assert min(sizes) * 340 / width >= 10.5


def test_only_probes_that_did_not_converge_are_crossed_out() -> None:
    assert "probe did not converge" in texts(accuracy_by_layer(not_beyond_chance(), name="x"))
    assert "probe did not converge" not in texts(accuracy_by_layer(combination(), name="x"))


@pytest.mark.parametrize("pair", [no_errors(), one_layer()])
def test_accuracy_is_drawn_without_errors_and_with_one_layer(pair: Combination) -> None:
    assert not re.search(r"\bnan\b", accuracy_by_layer(pair, name="x").body, flags=re.IGNORECASE)


def test_layer_ticks_are_whole_numbers() -> None:
    numbers = texts(accuracy_by_layer(combination(accuracies=(0.5, 0.6), best_layer=2), name="x"))
    assert {"1", "2"} <= set(numbers)
    assert "1.5" not in numbers


def test_long_label_keeps_both_ends_in_the_overview() -> None:
    pair = dataclasses.replace(combination(), backbone="b" * 80 + ".end")
    label = next(text for text in texts(overview([pair], name="x")) if text.startswith("digits"))
    assert len(label) <= LONGEST_LABEL + len(", n = 57")
    assert label.endswith(".end, n = 57")
