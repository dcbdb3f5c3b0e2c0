from __future__ import annotations

import dataclasses
import xml.etree.ElementTree as ElementTree

from tests.support.learnt_results import learnt_pair
from vitgeom.report.drawing import Drawing
from vitgeom.report.learnt_bottleneck import RANKS, Change
from vitgeom.report.learnt_bottleneck_figure import bottleneck_change, has_ranks

SVG = "{http://www.w3.org/2000/svg}"
ONE = learnt_pair(decoders=(("patch_mean", 8),)).decoders[0]


def texts(drawing: Drawing) -> list[str]:
    root = ElementTree.fromstring(drawing.standalone())
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_both_moments_are_drawn_and_told_with_the_rebuild_error() -> None:
    drawing = bottleneck_change(ONE, where="digits × nano", name="x")
    assert {"before", "behind the bottleneck", *RANKS.values(), "effective rank"} <= set(texts(drawing))
    assert "participation ratio: 282 (274 to 290) before, 41 (" in drawing.description
    assert "Rebuild error 0.083 (0.0786 to 0.0874)" in drawing.description
    assert drawing == bottleneck_change(ONE, where="digits × nano", name="x")


def test_what_is_undefined_is_left_out() -> None:
    assert ONE.bottleneck is not None
    nothing = Change(None, None)
    first = next(iter(RANKS))
    half = {**dict.fromkeys(ONE.bottleneck.figures, nothing), first: ONE.bottleneck.figures[first]}
    found = dataclasses.replace(ONE.bottleneck, figures=half)
    drawing = bottleneck_change(dataclasses.replace(ONE, bottleneck=found), where="d", name="x")
    assert "entropy rank: undefined before, undefined behind" in drawing.description
    assert has_ranks(found)
    assert not has_ranks(dataclasses.replace(found, figures=dict.fromkeys(half, nothing)))


def test_an_unchanged_rank_can_be_drawn() -> None:
    assert ONE.bottleneck is not None
    same = {name: Change(change.after, change.after) for name, change in ONE.bottleneck.figures.items()}
    found = dataclasses.replace(ONE.bottleneck, figures=same)
    drawing = bottleneck_change(dataclasses.replace(ONE, bottleneck=found), where="d", name="x")
    assert "50" in texts(drawing)
