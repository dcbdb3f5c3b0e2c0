from __future__ import annotations

import dataclasses

import pytest

from tests.support.directed_results import directed_pair, planted_directions
from tests.support.html_checks import read_page
from vitgeom.bootstrap import Interval
from vitgeom.report.directed_decoder import Measured, RankRange
from vitgeom.report.directed_pair import parse_directed_pair
from vitgeom.report.directions_tables import bounds, rank_90, ranks, tokens
from vitgeom.report.markup import Markup
from vitgeom.report.numbers import between
from vitgeom.report.verdict import spelled


def words(html: Markup) -> str:
    return " ".join(" ".join(read_page(html).texts).split())


def test_ranks_stand_with_shape_recipe_and_chance() -> None:
    pair = directed_pair()
    text = words(ranks(pair))
    for one in pair.decoders:
        assert f"{one.label} 12 × 36 3 {spelled(one.value('kappa'))} 25.0 %" in text
        for figure in ("participation_ratio", "entropy_rank", "stable_rank", "norm"):
            span = one.value(figure)
            assert span is not None
            assert between(span.value, span.low, span.high) in text
    assert "exact, 12" in text
    assert "n = 3 test images; means with 95 % intervals" in text


def test_variation_stands_with_and_without_prefix_tokens() -> None:
    pair = directed_pair()
    text = words(tokens(pair))
    for one in pair.decoders:
        told = []
        for figure in ("variation_patches", "variation", "variation_weighted_patches", "variation_weighted"):
            span = one.value(figure)
            assert span is not None
            told.append(between(span.value, span.low, span.high))
        assert f"{one.label} {' '.join(told)} 0.408" in text
    assert "some tokens far above others: 3" in text
    assert "Patches: 2 × 3; prefix tokens: CLS 1, registers 2." in text


@pytest.mark.parametrize(
    ("known", "said"),
    [
        (RankRange("exact", 4, 6), "5 (4 to 6), of each image known exactly"),
        (RankRange("interval", 3, 8), "between 3 and 8"),
        (RankRange("bound", 31, 96), "at least 31; density: 5 (4 to 6)"),
        (None, "undefined"),
    ],
)
def test_how_well_a_rank_is_known_is_a_word(known: RankRange | None, said: str) -> None:
    [one, *_] = directed_pair().decoders
    figures = {**one.figures, "r_90": Measured(Interval(5.0, 4.0, 6.0), 3)}
    assert rank_90(dataclasses.replace(one, rank_90=known, figures=figures)) == said


def test_a_bound_without_guess_has_none() -> None:
    [one, *_] = directed_pair().decoders
    weak = dataclasses.replace(one, rank_90=RankRange("bound", 7, 96), figures={**one.figures, "r_90": None})
    assert rank_90(weak) == "at least 7"


def test_what_is_undefined_is_a_word() -> None:
    text = words(ranks(directed_pair(silent=("cls",))))
    assert "undefined" in text
    assert "not measured" not in text
    assert "nan" not in text.split()


def test_every_theorem_has_a_line_for_every_decoder() -> None:
    pair = directed_pair()
    text = words(bounds(pair))
    assert text.count("the directions found hold no more than kappa_cap") == 3
    assert text.count("the output moves no more than block norms allow") == 3
    assert text.count("3 found 12") == 3
    assert "NO" not in text


def test_a_broken_bound_is_named_with_its_image() -> None:
    content = planted_directions()
    check = content["pairs"][0]["images"][1]["theorems"][0]
    check.update(holds=False, measured=9.0)
    pair = parse_directed_pair(dataset="d", backbone="b", content=content)
    assert "NO, on 1 (digit-1)" in words(bounds(pair))
