from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.support.directed_results import GRID, PREFIX, TOKENS, directed_pair
from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.map_rows import DARKEST, prefix_shares
from vitgeom.report.pictured_tokens import TokenMap
from vitgeom.report.token_maps import token_maps

SVG = "{http://www.w3.org/2000/svg}"
NUM_PREFIX = sum(PREFIX.values())


def with_maps(*importance: tuple[float, ...]) -> tuple[DirectedPair, DecoderDirections]:
    pair = directed_pair(decoders=(("cls", 4),))
    maps = tuple(TokenMap(f"digit-{place}", values) for place, values in enumerate(importance))
    return pair, dataclasses.replace(pair.decoders[0], maps=maps)


def test_the_most_important_patch_is_the_densest_and_lies_at_its_place() -> None:
    values = [0.0] * TOKENS
    values[NUM_PREFIX + 4], values[NUM_PREFIX] = 2.0, 1.0
    pair, one = with_maps(tuple(values))
    drawing = token_maps(pair, (one,), name="x")
    cells = re.findall(r'<rect x="([\d.]+)" y="([\d.]+)" [^>]*fill-opacity="([\d.]+)"></rect>', drawing.body)
    assert [cell[2] for cell in cells] == [f"{DARKEST / 2:.2f}", f"{DARKEST:.2f}"]
    tile = (360 - 2 * 12) / 3
    assert float(cells[1][0]) - float(cells[0][0]) == pytest.approx(tile / GRID[1], abs=0.02)
    assert float(cells[1][1]) > float(cells[0][1])
    assert "most in row 2 of 2, column 2 of 3" in drawing.description


def test_prefix_tokens_are_named_with_their_share() -> None:
    values = (3.0, 0.0, 4.0, *([0.0] * (TOKENS - NUM_PREFIX - 1)), 5.0)
    pair, one = with_maps(values)
    assert prefix_shares(pair, one.maps[0]) == [
        ("CLS", pytest.approx(0.18)),
        ("registers", pytest.approx(0.32)),
    ]
    root = ElementTree.fromstring(token_maps(pair, (one,), name="x").standalone())
    shown = ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]
    assert {"layer 4", "CLS: 18.0 %", "registers: 32.0 %"} <= set(shown)


def test_importance_that_is_all_zero_is_no_share() -> None:
    pair, one = with_maps((0.0,) * TOKENS)
    assert [share for _, share in prefix_shares(pair, one.maps[0])] == [None, None]
    assert "CLS: none" in token_maps(pair, (one,), name="x").body


def test_every_picture_is_embedded_once_and_shown_under_each_layer() -> None:
    pair = directed_pair()
    layers = pair.by_decoder()["cls"]
    drawing = token_maps(pair, layers, name="x")
    assert drawing.body.count("data:image/png;base64,") == 2
    assert drawing.body.count('<use href="#x-picture-0"') == 1 + len(layers)
    ids = set(re.findall(r' id="([^"]+)"', drawing.body))
    assert set(re.findall(r'href="#([^"]+)"', drawing.body)) == ids
    assert drawing == token_maps(pair, layers, name="x")
    assert not re.findall(r"#[0-9a-f]{6}\b", drawing.body)
