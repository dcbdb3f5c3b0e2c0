from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

from tests.support.directed_results import directed_pair
from vitgeom.report.regime_map import on_map, regime_map

SVG = "{http://www.w3.org/2000/svg}"


def test_every_decoder_is_a_point_with_its_layer() -> None:
    pairs = [directed_pair(), directed_pair(dataset="photos")]
    drawing = regime_map(pairs, name="x")
    shown = [
        "".join(node.itertext()) for node in ElementTree.fromstring(drawing.standalone()).iter(f"{SVG}text")
    ]
    assert shown.count("4") == 2
    assert shown.count("8") == 4
    assert {"class token", "patch mean", "random directions", "border"} <= set(shown)
    assert {"few directions", "many directions", "uneven tokens"} <= set(shown)
    for pair in pairs:
        for one in pair.decoders:
            assert f"{pair.label}, {one.label}: " in drawing.description
    assert "Borders: 80 % and 0.5" in drawing.description
    assert "n = 3" in drawing.description


def test_it_is_deterministic_and_coloured_by_role() -> None:
    drawing = regime_map([directed_pair()], name="x")
    assert drawing == regime_map([directed_pair()], name="x")
    assert not re.findall(r"#[0-9a-f]{6}", "".join(re.findall(r"<[^>]*>", drawing.body)))


def test_a_decoder_that_does_not_react_is_no_point() -> None:
    pair = directed_pair(silent=("cls",))
    assert [on_map(one) is None for one in pair.decoders] == [True, True, False]
    assert "class token" not in regime_map([pair], name="x").description


def test_what_holds_by_construction_is_hollow() -> None:
    hollow = regime_map([directed_pair(outputs=2)], name="x")
    assert hollow.body.count("fill: var(--surface); stroke: var(--layer)") > 0
    assert "fill: var(--surface); stroke: var(--layer)" not in regime_map([directed_pair()], name="x").body
