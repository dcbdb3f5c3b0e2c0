from __future__ import annotations

from tests.support.report_results import combination
from vitgeom.report import tables
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
