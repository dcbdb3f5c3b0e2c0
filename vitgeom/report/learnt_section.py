"""The part of the page about learnt metrics: the answer, the paper beside it, then cards, pictures and tables of each pair."""

from __future__ import annotations

from collections.abc import Mapping

from vitgeom.report import learnt_tables
from vitgeom.report.combination import Failure
from vitgeom.report.drawing import Drawing
from vitgeom.report.learnt_bottleneck_figure import bottleneck_change, has_ranks
from vitgeom.report.learnt_decoder import TARGETS, LearntDecoder
from vitgeom.report.learnt_figures import alignments, rank_correlations, scores_of
from vitgeom.report.learnt_maps import learnt_maps
from vitgeom.report.learnt_pair import LearntPair
from vitgeom.report.learnt_paper import learnt_paper
from vitgeom.report.learnt_ranks_figure import captured_by_rank
from vitgeom.report.learnt_rules import RULES, spelled_mean
from vitgeom.report.learnt_verdict import choice_words, learnt_headline, learnt_statements
from vitgeom.report.markup import Markup, element, join
from vitgeom.report.material import Material

QUESTION = "Can a small model say from the features alone, without any derivative, to which directions and tokens a decoder reacts?"


def paint_learnt(material: Material) -> dict[str, Drawing]:
    """Return the drawings of all pairs of which something was learnt, by name.

    Args:
        material: What to show.
    """
    drawings = []
    for number, pair in enumerate(material.learnt, start=1):
        networks = [one for one in pair.decoders if one.alignment is not None]
        if networks:
            drawings.append(alignments(networks, where=pair.label, name=f"alignment-{number}"))
        for place, one in enumerate(pair.decoders, start=1):
            drawings += _drawn(pair, one, f"{number}-{place}")
    return {drawing.name: drawing for drawing in drawings}


def _drawn(pair: LearntPair, one: LearntDecoder, number: str) -> list[Drawing]:
    """Return what can be drawn of one decoder."""
    found = []
    if any(scores_of(one, target) for target in TARGETS):
        found.append(rank_correlations(one, where=pair.label, name=f"rho-{number}"))
    if one.ranks is not None and one.ranks.measured:
        found.append(captured_by_rank(one, where=pair.label, name=f"ranks-{number}"))
    if one.bottleneck is not None and has_ranks(one.bottleneck):
        found.append(bottleneck_change(one, where=pair.label, name=f"bottleneck-{number}"))
    if one.maps and one.maps[0].learnt:
        found.append(learnt_maps(pair, one, name=f"learnt-tokens-{number}"))
    return found


def learnt_blocks(material: Material, drawings: Mapping[str, Drawing]) -> list[Markup]:
    """Return what the section holds.

    Args:
        material: What to show; of some pair a metric was learnt, or could not be.
        drawings: From :func:`paint_learnt`.
    """
    pairs = material.learnt
    blocks = [
        element("p", QUESTION, class_="muted"),
        element("p", learnt_headline(pairs), class_="lead"),
    ]
    if pairs:
        blocks += [element("p", RULES, class_="muted small"), learnt_paper(pairs)]
    blocks += [_block(pair, number, drawings) for number, pair in enumerate(pairs, start=1)]
    return blocks + [_failed(failure) for failure in material.unlearnt]


def _block(pair: LearntPair, number: int, drawings: Mapping[str, Drawing]) -> Markup:
    figures = [
        element("div", *shown, class_="figures")
        for captions in _captions(pair, number)
        if (shown := [_figure(drawings[key], caption) for key, caption in captions if key in drawings])
    ]
    return join(
        [
            element("h3", pair.label),
            element("div", *(_card(one) for one in pair.decoders), class_="cards"),
            *figures,
            *(learnt_tables.importance(pair, one) for one in pair.decoders),
            *([learnt_tables.alignment(pair)] if any(one.alignment for one in pair.decoders) else []),
            *([learnt_tables.bottlenecks(pair)] if any(one.bottleneck for one in pair.decoders) else []),
            *(_ranks(pair, one) for one in pair.decoders if one.ranks is not None),
            learnt_tables.cost(pair),
        ]
    )


def _captions(pair: LearntPair, number: int) -> list[list[tuple[str, str]]]:
    """Return drawings and captions in groups: of all decoders together, then of each."""
    groups = [[(f"alignment-{number}", V1_CAPTION)]]
    for place, one in enumerate(pair.decoders, start=1):
        key = f"{number}-{place}"
        groups.append(
            [
                (f"rho-{key}", _rho_caption(one)),
                (f"learnt-tokens-{key}", MAPS_CAPTION),
                (f"ranks-{key}", _ranks_caption(one)),
                *([(f"bottleneck-{key}", _bottleneck_caption(one))] if one.bottleneck is not None else []),
            ]
        )
    return groups


def _card(one: LearntDecoder) -> Markup:
    return element(
        "article",
        element("h3", one.label),
        element("span", choice_words(one), class_="tag"),
        *(statement.paragraph() for statement in learnt_statements(one)),
        class_="card",
    )


def _ranks(pair: LearntPair, one: LearntDecoder) -> Markup:
    return element(
        "details",
        element("summary", f"Ranks that were tried: {one.label}, {pair.label}"),
        learnt_tables.ranks(one),
    )


def _rho_caption(one: LearntDecoder) -> str:
    return (
        f"n = {one.images.get('test', 0):,} test images; bars and lines: mean, with 95 % intervals; 0: chance. Above: with the exact importance from {one.rank} "
        "directions; below: with exact block norms, which leave nothing out. Dashed: how far two independent estimates agree (the ceiling). Dotted: how far the two targets agree."
    )


def _ranks_caption(one: LearntDecoder) -> str:
    return (
        f"n = {one.images.get('val', 0):,} validation images, one training per point. Dotted: kappa_cap(r), the most that any r directions hold. "
        "Below: parameters, on a logarithmic axis. Ringed: the best width of a rank by V1. Hollow: stopped early. Trials "
        "without a result are in the table alone."
    )


def _bottleneck_caption(one: LearntDecoder) -> str:
    assert one.bottleneck is not None, "only a decoder with a bottleneck has this caption"
    return (
        f"n = {one.images.get('test', 0):,} test images; bars: 95 % intervals. Behind the bottleneck the decoder sees rebuilt features, so the change is worth "
        f"what they are: rebuild error {spelled_mean(one.bottleneck.rebuild_error)}, error of the output {spelled_mean(one.bottleneck.task_error)}."
    )


V1_CAPTION = (
    "Test images; bars: 95 % intervals. 1: the network's directions span the same subspace as the exact ones. One subspace for all images knows nothing of "
    "the single image: a network must beat it. n is in the table."
)
MAPS_CAPTION = (
    "Above: what the backbone sees. Below: importance of each patch, exact and as each model's first seed says, relative to the largest of that picture and "
    "row: compare the pattern, not the size. Under each map: the share of squared importance on tokens that are no patches."
)


def _figure(drawing: Drawing, caption: str) -> Markup:
    return element(
        "figure", drawing.inline(), element("figcaption", element("b", drawing.title), ". ", caption)
    )


def _failed(failure: Failure) -> Markup:
    return element(
        "article",
        element("h3", failure.label),
        element("span", "not learnt", class_="tag"),
        element("p", failure.reason),
        class_="card failed",
    )
