from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.support.shifted_results import shifted_pair
from vitgeom.bootstrap import Interval
from vitgeom.report.drawing import Drawing
from vitgeom.report.numbers import points
from vitgeom.report.shift_figures import DARKEST, advantage, advantage_map, told_apart

SVG = "{http://www.w3.org/2000/svg}"


def texts(drawing: Drawing) -> list[str]:
    return [
        "".join(node.itertext()) for node in ElementTree.fromstring(drawing.standalone()).iter(f"{SVG}text")
    ]


def test_every_square_says_its_number_and_brackets_say_that_it_may_be_zero() -> None:
    pair = shifted_pair()
    shown = texts(advantage_map(pair, name="x"))
    for corruption in pair.corruptions:
        for severity in pair.severities:
            span = advantage(pair, corruption, severity)
            assert span is not None
            number = points(span.value).removesuffix(" points")
            assert (number if told_apart(span) else f"({number})") in shown
    assert "(0.0)" in shown
    assert {"contrast", "gaussian noise", "1", "5", "VFusion − last layer (points)"} <= set(shown)


def test_the_words_hold_every_difference_with_its_interval() -> None:
    pair = shifted_pair()
    said = advantage_map(pair, name="x").description
    span = advantage(pair, "contrast", 5)
    assert span is not None
    assert f"contrast 5: {points(span.value)} ({points(span.low)} to {points(span.high)})" in said
    assert "gaussian noise 1" in said
    assert "400 damaged test images" in said


def test_no_square_is_darker_than_its_number_can_stand() -> None:
    drawing = advantage_map(shifted_pair(clean={"vfusion": 1.0, "last_layer": 0.2}), name="x")
    opacities = [float(value) for value in re.findall(r"opacity: ([\d.]+)", drawing.body)]
    assert max(opacities) == pytest.approx(DARKEST)


def test_what_was_not_evaluated_is_a_word() -> None:
    pair = shifted_pair(damage=(("contrast", 1), ("gaussian_noise", 5)))
    assert advantage(pair, "contrast", 5) is None
    assert texts(advantage_map(pair, name="x")).count("none") == 2
    alone = shifted_pair(clean={"vfusion": 0.9})
    assert advantage(alone, "contrast", 1) is None


@pytest.mark.parametrize(
    ("span", "apart"), [((0.1, 0.05, 0.2), True), ((-0.1, -0.2, -0.01), True), ((0.1, -0.01, 0.2), False)]
)
def test_told_apart(span: tuple[float, float, float], apart: bool) -> None:
    assert told_apart(Interval(*span)) is apart
