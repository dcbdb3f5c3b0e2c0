"""The part of the page about directions: the answer, the map of all decoders, then cards, pictures and tables of each pair."""

from __future__ import annotations

from collections.abc import Mapping

from vitgeom.report import directions_tables
from vitgeom.report.combination import Failure
from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.directions_figures import captured_shares, density, has_density, singular_values
from vitgeom.report.directions_metrics import metric_sentences
from vitgeom.report.directions_paper import paper
from vitgeom.report.directions_verdict import (
    decoder_sentence,
    directions_headline,
    next_steps,
    regime_words,
)
from vitgeom.report.drawing import Drawing
from vitgeom.report.markup import Markup, element, join
from vitgeom.report.material import Material
from vitgeom.report.regime_map import on_map, regime_map
from vitgeom.report.token_maps import token_maps

QUESTION = (
    "Which directions of a layer's features, and which of its tokens, does the output of a decoder depend on?"
)
MAP = "regimes"
SPREAD = "line: mean, band: from the lowest to the highest image"


def paint_directions(material: Material) -> dict[str, Drawing]:
    """Return the drawings of all pairs that were diagnosed, by name.

    Args:
        material: What to show.
    """
    drawings = []
    if any(on_map(one) for pair in material.directed for one in pair.decoders):
        drawings.append(regime_map(material.directed, name=MAP))
    for number, pair in enumerate(material.directed, start=1):
        for place, layers in enumerate(pair.by_decoder().values(), start=1):
            drawings += _drawn(pair, layers, f"{number}-{place}")
    return {drawing.name: drawing for drawing in drawings}


def _drawn(pair: DirectedPair, layers: tuple[DecoderDirections, ...], number: str) -> list[Drawing]:
    """Return what can be drawn of one decoder: an output that never reacts has no curve."""
    found = []
    if any(one.curves for one in layers):
        found.append(captured_shares(layers, where=pair.label, name=f"captured-{number}"))
    if any(any(one.spectra) for one in layers):
        found.append(singular_values(layers, where=pair.label, name=f"spectrum-{number}"))
    if any(has_density(one) for one in layers):
        found.append(density(layers, where=pair.label, name=f"density-{number}"))
    if any(one.maps for one in layers):
        found.append(token_maps(pair, layers, name=f"tokens-{number}"))
    return found


def directions_blocks(material: Material, drawings: Mapping[str, Drawing]) -> list[Markup]:
    """Return what the section holds.

    Args:
        material: What to show; some pair was diagnosed, or could not be.
        drawings: From :func:`paint_directions`.
    """
    pairs = material.directed
    blocks = [
        element("p", QUESTION, class_="muted"),
        element("p", directions_headline(pairs), class_="lead"),
    ]
    if MAP in drawings:
        blocks.append(_figure(drawings[MAP], MAP_CAPTION, wide=True))
    if pairs:
        blocks.append(paper(pairs))
    blocks += [_block(pair, number, drawings) for number, pair in enumerate(pairs, start=1)]
    return blocks + [_failed(failure) for failure in material.undirected]


MAP_CAPTION = (
    "One point per decoder, layer (the number in it) and pair of dataset and backbone; means over images with 95 % intervals. Right of the upright "
    "border some tokens matter far more than others; left of it few directions do above the level border, many below. Dotted: where random directions would "
    "lie. Hollow: no more outputs than directions, so everything is held by construction. n and numbers are in the tables."
)


def _block(pair: DirectedPair, number: int, drawings: Mapping[str, Drawing]) -> Markup:
    places = list(enumerate(pair.by_decoder().values(), start=1))
    curves = [
        _figure(drawings[key], caption)
        for place, layers in places
        for key, caption in (
            (f"captured-{number}-{place}", _captured_caption(layers)),
            (f"spectrum-{number}-{place}", f"n = {layers[0].images:,} images; {SPREAD}."),
            (f"density-{number}-{place}", _density_caption(layers)),
        )
        if key in drawings
    ]
    maps = [
        _figure(drawings[key], MAPS_CAPTION)
        for place, _ in places
        if (key := f"tokens-{number}-{place}") in drawings
    ]
    return join(
        [
            element("h3", pair.label),
            element("div", *(_card(one) for one in pair.decoders), class_="cards"),
            *_advice(pair),
            *(element("p", sentence) for sentence in metric_sentences(pair)),
            element("div", *curves, class_="figures"),
            element("div", *maps, class_="figures"),
            directions_tables.ranks(pair),
            directions_tables.tokens(pair),
            element(
                "details",
                element("summary", f"Bounds of the theory: {pair.label}"),
                directions_tables.bounds(pair),
            ),
        ]
    )


def _advice(pair: DirectedPair) -> list[Markup]:
    steps = [
        part
        for words, which, step in next_steps(pair.decoders)
        for part in (element("dt", words), element("dd", element("b", which), ". ", step))
    ]
    return [element("p", "What follows:"), element("dl", *steps)]


def _card(one: DecoderDirections) -> Markup:
    return element(
        "article",
        element("h3", one.label),
        element("span", regime_words(one), class_="tag"),
        element("p", decoder_sentence(one)),
        class_="card",
    )


def _captured_caption(layers: tuple[DecoderDirections, ...]) -> str:
    return (
        f"n = {layers[0].images:,} images; {SPREAD}; bars at the right: 95 % interval of the mean. Dotted: a flat spectrum, the least "
        "that there can be."
    )


def _density_caption(layers: tuple[DecoderDirections, ...]) -> str:
    samples = dict.fromkeys(one.density.sample for one in layers if one.density is not None)
    return (
        f"n = 1 image ({', '.join(samples)}): how many eigenvalues lie in each step. Where the Jacobian was not multiplied out, counts below the "
        "leading ones are estimates."
    )


MAPS_CAPTION = (
    "Above: what the backbone sees. Below, for each layer: importance of each patch, relative to the largest of that picture. Under each map: the "
    "share of squared importance on tokens that are no patches."
)


def _figure(drawing: Drawing, caption: str, *, wide: bool = False) -> Markup:
    text = element("figcaption", element("b", drawing.title), ". ", caption)
    return element("figure", drawing.inline(), text, class_="wide" if wide else None)


def _failed(failure: Failure) -> Markup:
    return element(
        "article",
        element("h3", failure.label),
        element("span", "not diagnosed", class_="tag"),
        element("p", failure.reason),
        class_="card failed",
    )
