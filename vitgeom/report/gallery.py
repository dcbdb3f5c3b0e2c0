"""All drawings of a report, by what they show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from vitgeom.report.directions_section import paint_directions
from vitgeom.report.drawing import Drawing
from vitgeom.report.figures import accuracy_by_layer, overview, recoverability_by_layer
from vitgeom.report.fusion_figures import accuracy_by_method
from vitgeom.report.learnt_section import paint_learnt
from vitgeom.report.material import Material
from vitgeom.report.relation_figures import correction_shares, layer_agreement
from vitgeom.report.shift_figures import advantage_map


@dataclass(frozen=True)
class Gallery:
    """The overview (None where no pair has an R_any), the drawings of each pair by its label, and those of directions and of learnt metrics by name."""

    overview: Drawing | None
    accuracy: Mapping[str, Drawing]
    recoverability: Mapping[str, Drawing]
    corrections: Mapping[str, Drawing]
    agreement: Mapping[str, Drawing]
    methods: Mapping[str, Drawing]
    shift: Mapping[str, Drawing]
    directions: Mapping[str, Drawing]
    learnt: Mapping[str, Drawing]

    def drawings(self) -> tuple[Drawing, ...]:
        """Return every drawing once."""
        first = () if self.overview is None else (self.overview,)
        by_pair = (
            self.accuracy,
            self.recoverability,
            self.corrections,
            self.agreement,
            self.methods,
            self.shift,
            self.directions,
            self.learnt,
        )
        return (*first, *(drawing for drawings in by_pair for drawing in drawings.values()))


def paint_gallery(material: Material) -> Gallery:
    """Draw everything that the finished pairs allow.

    Names are numbered in the order of the pairs, so they are safe as ids and file names whatever the pairs are called.

    Args:
        material: What the report shows.
    """
    numbered = list(enumerate(material.finished, start=1))
    with_errors = [pair for pair in material.finished if pair.r_any is not None]
    return Gallery(
        overview=overview(with_errors, name="overview") if with_errors else None,
        accuracy={
            pair.label: accuracy_by_layer(pair, name=f"accuracy-{number}") for number, pair in numbered
        },
        recoverability={
            pair.label: recoverability_by_layer(pair, name=f"recoverability-{number}")
            for number, pair in numbered
            if pair.r_any is not None
        },
        corrections={
            pair.label: correction_shares(pair, name=f"corrections-{number}")
            for number, pair in numbered
            if pair.corrections is not None
        },
        agreement={
            pair.label: layer_agreement(pair, name=f"agreement-{number}")
            for number, pair in numbered
            if pair.diversity is not None
        },
        methods={
            pair.label: accuracy_by_method(pair, name=f"methods-{number}")
            for number, pair in enumerate([*material.fused, *material.across], start=1)
        },
        shift={
            pair.label: advantage_map(pair, name=f"shift-{number}")
            for number, pair in enumerate(material.shifted, start=1)
            if pair.conditions
        },
        directions=paint_directions(material),
        learnt=paint_learnt(material),
    )
