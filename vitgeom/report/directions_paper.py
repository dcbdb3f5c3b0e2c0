"""The paper's figures about directions, and ours of the decoders that come nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vitgeom.bootstrap import Interval
from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import between
from vitgeom.report.verdict import spelled

ABSENT, UNDEFINED = "not analysed", "undefined"


@dataclass(frozen=True)
class PaperFigure:
    """One figure of the paper.

    Attributes:
        what: In words.
        theirs: As the paper states it.
        decoders: Those here that come nearest.
        ours: The same figure of one of them.
    """

    what: str
    theirs: str
    decoders: tuple[str, ...]
    ours: Callable[[DecoderDirections], str]


def _held(one: DecoderDirections) -> str:
    return f"R = {one.found}: {spelled(one.value('kappa'), missing=UNDEFINED)}"


def _variation(one: DecoderDirections) -> str:
    return f"{_number(one.value('variation_patches'))} over patches, {_number(one.value('variation'))} over all tokens"


def _ratio(one: DecoderDirections) -> str:
    return f"participation ratio {_number(one.value('participation_ratio'))} of at most {min(one.outputs, one.columns):,}"


def _number(span: Interval | None) -> str:
    return UNDEFINED if span is None else between(span.value, span.low, span.high)


PAPER = (
    PaperFigure("class token: share that 20 directions hold", "about one third", ("cls",), _held),
    PaperFigure("depth (DPT): CV of token energy", "0.026", ("scenes_depth",), _variation),
    PaperFigure(
        "dense outputs (VGGT): effective rank", "282 and 212", ("scenes_depth", "scenes_points"), _ratio
    ),
    PaperFigure("camera pose: share that the directions hold", "about 1", ("scenes_camera",), _held),
)


def paper(pairs: Sequence[DirectedPair]) -> Markup:
    """Return the paper's figures with ours beside them, by dataset × backbone, decoder and layer.

    Args:
        pairs: All that were diagnosed.
    """
    return table(
        ("figure", "paper", "dataset × backbone", "here", "n images"),
        [row for figure in PAPER for row in _rows(pairs, figure)],
        caption=(
            "Paper / here: other backbones, heads and images, so sizes need not agree; the order of decoders is what can be compared. Here: means "
            "with 95 % intervals over images."
        ),
        words=True,
    )


def _rows(pairs: Sequence[DirectedPair], figure: PaperFigure) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for pair in pairs:
        found = [one for name in figure.decoders for one in pair.by_decoder().get(name, ())]
        if found:
            told = "; ".join(f"{one.label}, {figure.ours(one)}" for one in found)
            rows.append((figure.what, figure.theirs, pair.label, told, f"{found[0].images:,}"))
    return rows or [(figure.what, figure.theirs, ABSENT, ABSENT, "none")]
