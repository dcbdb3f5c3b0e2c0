from __future__ import annotations

from tests.support.html_checks import read_page
from tests.support.shifted_results import shifted_pair
from vitgeom.fusion.adapted_scores import ITSELF_AS_IS, LAST_ADAPTED
from vitgeom.report.batch_statistics import ASSUMPTION, adapted_headline, adapted_means, adapted_sentence
from vitgeom.report.fusion_means import spelled_difference
from vitgeom.report.markup import Markup
from vitgeom.report.numbers import percent


def words(html: Markup) -> str:
    return " ".join(" ".join(read_page(html).texts).split())


def test_the_table_has_every_method_both_ways_with_what_it_costs_on_clean_images() -> None:
    pair = shifted_pair()
    text = words(adapted_means(pair))
    assert pair.adapted_mean is not None
    assert pair.adapted_clean is not None
    for name in ("vfusion", "stacking", "last_layer"):
        as_is, score, clean = (
            find(name) for find in (pair.mean_score, pair.adapted_mean.score, pair.adapted_clean.score)
        )
        assert as_is is not None
        assert score is not None
        assert clean is not None
        for figure in (as_is.accuracy.value, score.accuracy.value):
            assert percent(figure) in text
        assert spelled_difference(score.differences[ITSELF_AS_IS]) in text
        assert spelled_difference(clean.differences[ITSELF_AS_IS]) in text
    assert text.index("Last layer") < text.index("Logistic stacking") < text.rindex("VFusion")
    assert "many test images of one condition with roughly the classes of training; no label is used" in text


def test_the_sentence_holds_both_comparisons_and_the_clean_cost() -> None:
    pair = shifted_pair()
    said = adapted_sentence(pair)
    assert pair.adapted_mean is not None
    assert pair.adapted_clean is not None
    score, clean = pair.adapted_mean.score("vfusion"), pair.adapted_clean.score("vfusion")
    assert score is not None
    assert clean is not None
    assert f"{spelled_difference(score.differences[ITSELF_AS_IS])} against itself as it is" in said
    assert f"{spelled_difference(score.differences[LAST_ADAPTED])} between the two, a difference." in said
    assert (
        f"On clean images they change VFusion by {spelled_difference(clean.differences[ITSELF_AS_IS])}."
        in said
    )


def test_a_refusal_is_told_in_place_of_figures() -> None:
    pair = shifted_pair(refused=True)
    assert adapted_sentence(pair) == "No batch statistics: 400 test images are fewer than 500."
    assert adapted_headline([pair]) == ""


def test_the_headline_counts_pairs() -> None:
    said = adapted_headline(
        [shifted_pair(), shifted_pair(dataset="photos"), shifted_pair(dataset="x", refused=True)]
    )
    assert "VFusion gains in 2 of 2 pairs and loses in 0" in said
    assert "against the last layer treated alike it is ahead in 2 and behind in 0." in said
    assert adapted_headline([]) == ""


def test_without_a_last_layer_there_is_no_rival() -> None:
    alone = shifted_pair(clean={"vfusion": 0.9})
    assert adapted_headline([alone]).endswith("gains in 1 of 1 pairs and loses in 0.")
    assert (
        adapted_sentence(alone) == "VFusion and the last layer were not both evaluated with batch statistics."
    )
    assert "none" in words(adapted_means(alone))


def test_what_it_assumes_is_said_plainly() -> None:
    for part in ("No label is used", "many images of one condition at once", "mix of classes of training"):
        assert part in ASSUMPTION
