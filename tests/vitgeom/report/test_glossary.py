from __future__ import annotations

from tests.support.directed_results import directed_pair
from tests.support.learnt_results import learnt_pair
from tests.support.report_results import combination
from vitgeom.report import directions_tables, learnt_tables, tables
from vitgeom.report.glossary import TERMS, glossary


def test_every_term_has_its_meaning() -> None:
    text = glossary()
    assert text.count("<dt>") == text.count("<dd>") == len(TERMS)


def test_short_words_of_the_tables_are_explained() -> None:
    explained = " ".join(term for term, _ in TERMS)
    table = tables.recoverability([combination()]) + tables.layers(combination())
    for word in ("R_any", "R_l", "refits", "permuted", "guessing"):
        assert word in table
        assert word in explained


def test_words_of_the_tables_of_directions_are_explained() -> None:
    explained = " ".join(term + words for term, words in TERMS)
    table = directions_tables.ranks(directed_pair()) + directions_tables.tokens(directed_pair())
    for word in (
        "kappa_cap",
        "‖J‖²",
        "articipation ratio",
        "ntropy rank",
        "table rank",
        "irections for 90 %",
        "CV",
    ):
        assert word in table
        assert word in explained


def test_words_of_the_tables_of_learnt_metrics_are_explained() -> None:
    explained = " ".join(term + words for term, words in TERMS)
    pair = learnt_pair()
    table = "".join(
        [
            *(learnt_tables.importance(pair, one) for one in pair.decoders),
            learnt_tables.alignment(pair),
            learnt_tables.bottlenecks(pair),
        ]
    )
    for word in (
        "two estimates",
        "block norms",
        "importance head",
        "Spectral Pullback Network",
        "one subspace for all images",
        "bottleneck",
        "V1",
        "ρ",
    ):
        assert word in table
        assert word in explained
    assert "ebuild error" in explained
