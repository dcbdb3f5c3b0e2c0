from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import matplotlib
from matplotlib.figure import Figure

from vitgeom.report import palette
from vitgeom.report.drawing import Drawing, draw


def paint(figure: Figure) -> None:
    axes = figure.subplots()
    axes.plot([1, 2, 3], [1, 3, 2], marker="o", color=palette.LAYER.light)
    axes.set_xlabel(f"<b> $x_ & {palette.INK.light} 1.23456")


def drawn(name: str = "first") -> Drawing:
    return draw(paint, name=name, title="a < b", description='says "c"', width=5.0, height=3.0)


def test_same_input_gives_the_same_bytes() -> None:
    assert drawn() == drawn()
    assert drawn().standalone() == drawn().standalone()


def test_own_settings_of_a_user_change_nothing() -> None:
    plain = drawn()
    with matplotlib.rc_context({"font.size": 40, "axes.facecolor": "red", "svg.hashsalt": None}):
        assert drawn() == plain


def test_settings_do_not_leak() -> None:
    before = dict(matplotlib.rcParams)
    drawn()
    assert dict(matplotlib.rcParams) == before


def test_file_is_well_formed_and_reads_as_text() -> None:
    root = ElementTree.fromstring(drawn().standalone())
    names = {"svg": "http://www.w3.org/2000/svg"}
    assert root.findtext("svg:title", namespaces=names) == "a < b"
    assert root.findtext("svg:desc", namespaces=names) == 'says "c"'
    texts = [node.text for node in root.iter(f"{{{names['svg']}}}text")]
    assert f"<b> $x_ & {palette.INK.light} 1.23456" in texts


def test_colours_follow_the_scheme() -> None:
    figure = drawn()
    assert "var(--layer)" in figure.body
    tags = "".join(re.findall(r"<[^>]*>", figure.body))
    assert not [role for role in palette.ROLES if role.light in tags]
    assert "prefers-color-scheme:dark" in figure.standalone()


def test_ids_of_two_drawings_differ_and_each_reference_has_its_target() -> None:
    first, second = drawn("first").inline(), drawn("second").inline()
    ids = [re.findall(r' id="([^"]+)"', text) for text in (first, second)]
    assert not set(ids[0]) & set(ids[1])
    assert len(set(ids[0])) == len(ids[0])
    references = re.findall(r'url\(#([^)]+)\)|href="#([^"]+)"', first)
    assert references
    assert {name for pair in references for name in pair if name} <= set(ids[0])


def test_view_box_is_the_size_in_units() -> None:
    assert drawn().view_box == "0 0 360 216"
