from __future__ import annotations

import dataclasses
import re
import xml.etree.ElementTree as ElementTree

from tests.support.learnt_results import average, learnt_pair
from vitgeom.report.averaged import parse_averaged
from vitgeom.report.drawing import Drawing
from vitgeom.report.learnt_decoder import RANKED, UNTRUNCATED
from vitgeom.report.learnt_figures import alignments, rank_correlations, scores_of

SVG = "{http://www.w3.org/2000/svg}"
ONE = learnt_pair(decoders=(("cls", 4),), asked=("importance", "spn")).decoders[0]


def texts(drawing: Drawing) -> list[str]:
    root = ElementTree.fromstring(drawing.standalone())
    return ["".join(node.itertext()) for node in root.iter(f"{SVG}text")]


def test_models_come_first_and_a_target_is_not_compared_with_itself() -> None:
    names = [name for name, _ in scores_of(ONE, RANKED)]
    assert names == [
        "importance",
        "spn",
        "exact block norms",
        "one map for all images",
        "feature norm",
        "class attention",
        "random",
    ]
    assert "exact block norms" not in [name for name, _ in scores_of(ONE, UNTRUNCATED)]


def test_both_targets_with_every_score_and_level_are_drawn_and_told() -> None:
    drawing = rank_correlations(ONE, where="digits × nano", name="x")
    shown = texts(drawing)
    for words, times in {
        "importance head": 2, "network (SPN)": 2, "exact block norms": 1, "random": 2, "two estimates (ceiling)": 1, "truncation": 1,
        "exact importance, 3 directions": 1, "exact block norms, not truncated": 1,
    }.items():  # fmt: skip
        assert shown.count(words) == times, words
    assert "class token from layer 4, digits × nano" in drawing.title
    for part in (
        "n = 80 test images",
        "importance head 0.93 (0.904 to 0.956)",
        "two estimates 0.985 (0.983 to 0.987)",
        "one target against the other: 0.96 (0.956 to 0.964)",
    ):
        assert part in drawing.description
    assert drawing == rank_correlations(ONE, where="digits × nano", name="x")


def test_a_rho_below_zero_lies_inside_the_axis() -> None:
    worse = {**ONE.scores, "importance": dict.fromkeys((RANKED, UNTRUNCATED), parse_averaged(average(-0.6)))}
    drawing = rank_correlations(dataclasses.replace(ONE, scores=worse), where="d", name="x")
    assert any(text in ("−0.5", "−0.50") for text in texts(drawing))


def test_what_is_undefined_is_left_out() -> None:
    nothing = dict.fromkeys(ONE.ceiling)
    half = {**ONE.scores["random"], UNTRUNCATED: None}
    one = dataclasses.replace(ONE, scores={"random": half}, ceiling=nothing, truncation=None)
    drawing = rank_correlations(one, where="d", name="x")
    assert texts(drawing).count("random") == 1
    assert "two estimates undefined" in drawing.description


def test_every_network_stands_beside_its_ceiling_and_what_knows_no_image() -> None:
    other = dataclasses.replace(ONE, layer=9)
    drawing = alignments([ONE, other], where="digits × nano", name="x")
    assert {
        "class token from layer 4",
        "class token from layer 9",
        "network",
        "one subspace for all images",
    } <= set(texts(drawing))
    assert (
        "class token from layer 9, n = 80: network 0.64 (0.614 to 0.666), two estimates (ceiling) 0.71 (0.706 to 0.714), "
        "one subspace for all images 0.31 (0.284 to 0.336), random subspace 0.0833"
    ) in drawing.description


def test_an_undefined_v1_is_told_and_not_drawn() -> None:
    assert ONE.alignment is not None
    bare = dataclasses.replace(ONE.alignment, learnt=None, constant=None)
    drawing = alignments([dataclasses.replace(ONE, alignment=bare)], where="d", name="x")
    assert "n = 0: network undefined" in drawing.description


def test_colours_are_roles() -> None:
    for drawing in (rank_correlations(ONE, where="d", name="x"), alignments([ONE], where="d", name="y")):
        tags = "".join(re.findall(r"<[^>]*>", drawing.body))
        assert "var(--layer)" in tags
        assert not re.findall(r"#[0-9a-f]{6}", tags)
