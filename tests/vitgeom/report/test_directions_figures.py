from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree

import pytest

from tests.support.directed_results import directed_pair
from vitgeom.report import palette
from vitgeom.report.directed_decoder import DecoderDirections, Density
from vitgeom.report.directions_figures import captured_shares, density, has_density, singular_values, style
from vitgeom.report.drawing import Drawing
from vitgeom.report.verdict import spelled

SVG = "{http://www.w3.org/2000/svg}"
PAINTERS = (captured_shares, singular_values, density)


def layers() -> tuple[DecoderDirections, ...]:
    return directed_pair().by_decoder()["cls"]


def texts(drawing: Drawing) -> list[str]:
    root = ElementTree.fromstring(drawing.standalone())
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


@pytest.mark.parametrize("painter", PAINTERS)
def test_every_layer_is_named_and_the_same_input_gives_the_same_bytes(painter) -> None:
    first, second = (painter(layers(), where="digits × nano", name="x") for _ in range(2))
    assert first == second
    assert {"layer 4", "layer 8"} <= set(texts(first))
    assert "class token, digits × nano" in first.title
    assert not any("$" in text for text in texts(first)), "no mathematics of the drawing program is left"


@pytest.mark.parametrize("painter", PAINTERS)
def test_colours_are_roles(painter) -> None:
    tags = "".join(re.findall(r"<[^>]*>", painter(layers(), where="d", name="x").body))
    assert "var(--layer)" in tags
    assert "var(--permutation)" in tags
    assert not re.findall(r"#[0-9a-f]{6}", tags)


def test_words_hold_the_share_with_interval_and_what_a_flat_spectrum_gives() -> None:
    drawing = captured_shares(layers(), where="d", name="x")
    for one in layers():
        assert (
            f"layer {one.layer}: {spelled(one.value('kappa'))} at 3, a flat spectrum 25.0 %"
            in drawing.description
        )
    assert "n = 3 images" in drawing.description
    assert "flat spectrum" in texts(drawing)


def test_a_curve_of_one_direction_can_be_drawn() -> None:
    one = directed_pair(rank=1).by_decoder()["cls"]
    assert "at 1" in captured_shares(one, where="d", name="x").description
    assert "at 1" in singular_values(one, where="d", name="x").description


def test_layers_without_reaction_are_left_out() -> None:
    heard, silent = (directed_pair(silent=names).by_decoder()["cls"][0] for names in ((), ("cls",)))
    both = (heard, dataclasses.replace(silent, layer=9))
    assert not has_density(silent)
    for painter in PAINTERS:
        assert "layer 9" not in texts(painter(both, where="d", name="x"))


def test_every_eigenvalue_above_zero_is_counted() -> None:
    one = dataclasses.replace(
        layers()[0], density=Density("a", (4.0, 1.0, 0.25, 1e-20), (1.0, 1.0, 30.5, 100.0))
    )
    drawing = density((one,), where="d", name="x")
    assert "layer 4: 32.5 from 0.25 to 4" in drawing.description


def test_a_density_of_one_value_can_be_drawn() -> None:
    one = dataclasses.replace(layers()[0], density=Density("a", (4.0,), (12.0,)))
    assert "layer 4: 12 from 4 to 4" in density((one,), where="d", name="x").description


def test_styles_differ_in_shape_as_well_as_in_colour() -> None:
    styles = [style(place) for place in range(5)]
    assert len({role.variable for role, _, _ in styles}) == len({marker for _, marker, _ in styles}) == 5
    assert style(5) == style(0)
    assert all(role in palette.ROLES for role, _, _ in styles)
