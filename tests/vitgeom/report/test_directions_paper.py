from __future__ import annotations

from tests.support.directed_results import directed_pair
from tests.support.html_checks import read_page
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.directions_paper import paper
from vitgeom.report.verdict import spelled


def words(*pairs: DirectedPair) -> str:
    return " ".join(" ".join(read_page(paper(pairs)).texts).split())


def test_our_class_token_stands_beside_the_papers() -> None:
    pair = directed_pair()
    text = words(pair)
    for one in pair.by_decoder()["cls"]:
        assert f"{one.label}, R = 3: {spelled(one.value('kappa'))}" in text
    assert "about one third digits × nano_supervised" in text


def test_what_was_not_analysed_is_said() -> None:
    text = words(directed_pair())
    for theirs in ("0.026", "282 and 212", "about 1"):
        assert f"{theirs} not analysed not analysed none" in text


def test_dense_and_camera_decoders_have_their_figures() -> None:
    decoders = (("scenes_depth", 4), ("scenes_points", 4), ("scenes_camera", 4))
    text = words(directed_pair(decoders=decoders))
    assert "over patches" in text
    assert "over all tokens" in text
    assert text.count("participation ratio") == 2
    assert "of at most 12" in text
    assert "camera pose from layer 4, R = 3" in text
