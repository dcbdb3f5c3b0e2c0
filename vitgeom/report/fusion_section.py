"""The part of the page about fused layers: the answer, then picture and table of each pair, then the means."""

from __future__ import annotations

from collections.abc import Mapping

from vitgeom.report import fusion_tables
from vitgeom.report.combination import Failure
from vitgeom.report.drawing import Drawing
from vitgeom.report.fused_pair import FusedPair
from vitgeom.report.fusion_means import pooled
from vitgeom.report.fusion_verdict import fusion_headline, fusion_sentence, horizontal_sentence
from vitgeom.report.markup import Markup, element, join
from vitgeom.report.material import Material

QUESTION = "Does one classifier on all layers beat the best layer, and combinations of the layers' answers?"
EMPTY = "No comparison of methods was made."


def fusion_blocks(material: Material, drawings: Mapping[str, Drawing]) -> list[Markup]:
    """Return what the section holds.

    Args:
        material: What to show.
        drawings: Of each comparison by its label.
    """
    if not (material.fused or material.across or material.unfused):
        return [element("p", EMPTY, class_="muted")]
    blocks = [
        element("p", QUESTION, class_="muted"),
        element("p", fusion_headline(material.fused), class_="lead"),
    ]
    if material.fused:
        whole = pooled(material.fused)
        blocks += [
            fusion_tables.means(material.fused, whole),
            fusion_tables.paper(whole, material.finished),
        ]
    blocks += [_block(pair, fusion_sentence(pair), drawings[pair.label]) for pair in material.fused]
    blocks += [_block(pair, horizontal_sentence(pair), drawings[pair.label]) for pair in material.across]
    return blocks + [_failed(failure) for failure in material.unfused]


def _block(pair: FusedPair, sentence: str, drawing: Drawing) -> Markup:
    caption = element(
        "figcaption",
        element("b", drawing.title),
        ". ",
        f"n = {pair.comparison.num_samples:,} test images. Points and lines: mean over seeds and 95 % interval. The axis does not start at zero.",
    )
    return join(
        [
            element("h3", pair.label),
            element("p", sentence),
            element("figure", drawing.inline(), caption, class_="wide"),
            element(
                "details", element("summary", f"Method by method: {pair.label}"), fusion_tables.methods(pair)
            ),
        ]
    )


def _failed(failure: Failure) -> Markup:
    return element(
        "article",
        element("h3", failure.label),
        element("span", "not fused", class_="tag"),
        element("p", failure.reason),
        class_="card failed",
    )
