"""The paper's figures about directions, and ours of the decoders that come nearest."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from vitgeom.bootstrap import Interval
from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import between
from vitgeom.report.verdict import spelled


def _number(span: Interval) -> str:
    return between(span.value, span.low, span.high)


# (what, the paper's figure, decoder here, figure of it, how it is written)
PAPER: tuple[tuple[str, str, str, str, Callable[[Interval], str]], ...] = (
    ("class token: share that 20 directions hold", "about one third", "cls", "kappa", spelled),
    (
        "DPT depth: variation of token energy (CV), patches only",
        "0.026",
        "scenes_depth",
        "variation_patches",
        _number,
    ),
    (
        "DPT depth: variation of token energy (CV), all tokens",
        "0.026",
        "scenes_depth",
        "variation",
        _number,
    ),
    (
        "VGGT, dense outputs: effective rank; here participation ratio of depth",
        "282 and 212",
        "scenes_depth",
        "participation_ratio",
        _number,
    ),
    (
        "VGGT, dense outputs: effective rank; here participation ratio of points",
        "282 and 212",
        "scenes_points",
        "participation_ratio",
        _number,
    ),
    ("camera pose: share that the directions hold", "about 1", "scenes_camera", "kappa", spelled),
)
ABSENT = "not analysed"


def paper(pairs: Sequence[DirectedPair]) -> Markup:
    """Return the paper's figures with ours beside them, by dataset × backbone and layer.

    Args:
        pairs: All that were diagnosed.
    """
    return table(
        ("figure", "paper", "dataset × backbone", "here", "n images"),
        [row for entry in PAPER for row in _rows(pairs, *entry)],
        caption=(
            "Paper / here: other backbones, heads and images, so sizes need not agree; the order of decoders is what can be compared. Here: means "
            "with 95 % intervals over images."
        ),
        words=True,
    )


def _rows(
    pairs: Sequence[DirectedPair],
    what: str,
    theirs: str,
    decoder: str,
    figure: str,
    written: Callable[[Interval], str],
) -> list[tuple[str, ...]]:
    rows = []
    for pair in pairs:
        layers = pair.by_decoder().get(decoder, ())
        if layers:
            told = "; ".join(_told(one, figure, written) for one in layers)
            rows.append((what, theirs, pair.label, told, f"{layers[0].images:,}"))
    return rows or [(what, theirs, ABSENT, ABSENT, "none")]


def _told(one: DecoderDirections, figure: str, written: Callable[[Interval], str]) -> str:
    span = one.value(figure)
    size = f" with R = {one.found}" if figure == "kappa" else ""
    return f"layer {one.layer}{size}: {'undefined' if span is None else written(span)}"
