"""Token importance over the pictures: which patches a decoder reacts to, and how much of it all lies on prefix tokens."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.report.directed_decoder import DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.drawing import Drawing
from vitgeom.report.map_rows import MapRow, draw_map_rows


def token_maps(pair: DirectedPair, layers: Sequence[DecoderDirections], *, name: str) -> Drawing:
    """Draw the pictures in a row, and below them one row per layer with the importance of every patch over them.

    Args:
        pair: What the layers belong to.
        layers: One decoder at its layers, with maps of the same images.
        name: Key of the drawing.
    """
    return draw_map_rows(
        pair,
        [MapRow(f"layer {one.layer}", one.maps) for one in layers],
        name=name,
        title=f"Where it looks: {layers[0].title}, {pair.label}",
    )
