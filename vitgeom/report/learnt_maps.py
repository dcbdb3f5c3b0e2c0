"""Learnt beside exact importance over the pictures: the same patches in one column, one row per model."""

from __future__ import annotations

from vitgeom.report.drawing import Drawing
from vitgeom.report.learnt_decoder import LearntDecoder, title_of
from vitgeom.report.learnt_pair import LearntPair
from vitgeom.report.map_rows import MapRow, draw_map_rows


def learnt_maps(pair: LearntPair, one: LearntDecoder, *, name: str) -> Drawing:
    """Draw the pictures in a row, below them the exact importance of every patch, and below that each model's.

    Args:
        pair: What the decoder belongs to.
        one: A decoder at a layer with at least one map.
        name: Key of the drawing.
    """
    rows = [MapRow("exact", tuple(shown.exact for shown in one.maps))]
    rows += [
        MapRow(title_of(learner), tuple(shown.learnt[learner] for shown in one.maps))
        for learner in one.maps[0].learnt
    ]
    return draw_map_rows(
        pair, rows, name=name, title=f"Exact and learnt importance: {one.label}, {pair.label}"
    )
