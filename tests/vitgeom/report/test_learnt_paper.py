from __future__ import annotations

from tests.support.html_checks import read_page
from tests.support.learnt_results import learnt_pair
from vitgeom.report.learnt_pair import LearntPair
from vitgeom.report.learnt_paper import learnt_paper


def words(*pairs: LearntPair) -> str:
    return " ".join(" ".join(read_page(learnt_paper(pairs)).texts).split())


def test_ours_stands_beside_the_papers_in_the_same_regime() -> None:
    text = words(learnt_pair())
    assert (
        "some tokens far above others: ρ 0.998 digits × nano_supervised class token from layer 4: 0.93 (0.904 to 0.956), ceiling 0.985"
        in text
    )
    assert (
        "0.713, 0.710, 0.005 digits × nano_supervised depth map from layer 8: 0.64 (0.614 to 0.666), ceiling 0.71"
        in text
    )
    assert "282 → 30 to 53 digits × nano_supervised patch mean from layer 8: 282 (274 to 290) → 41 (" in text
    assert "about 40" in text
    assert "datasets, backbones and heads differ" in text


def test_what_was_not_learnt_is_said() -> None:
    text = words(learnt_pair(decoders=(("cls", 4),)))
    for theirs in ("0.713, 0.710, 0.005", "282 → 30 to 53", "about 40"):
        assert f"{theirs} not learnt not learnt none" in text
    assert "0.20 no head was learnt in this regime here" in text


def test_a_head_on_a_delocalised_decoder_is_compared_with_the_papers_depth() -> None:
    text = words(learnt_pair(decoders=(("scenes_depth", 8),), asked=("importance",)))
    assert "0.20 digits × nano_supervised depth map from layer 8: 0.93" in text
    assert "0.998 no head was learnt in this regime here" in text
