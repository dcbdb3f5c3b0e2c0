"""The part of the page about distribution shift: the answer, then picture and tables of each pair, then sub-populations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from vitgeom.report import shift_tables
from vitgeom.report.batch_statistics import ASSUMPTION, adapted_headline, adapted_means, adapted_sentence
from vitgeom.report.combination import Failure
from vitgeom.report.drawing import Drawing
from vitgeom.report.markup import Markup, element, join
from vitgeom.report.material import Material
from vitgeom.report.numbers import counted, percent, points
from vitgeom.report.shift_figures import FUSED, LAST, told_apart
from vitgeom.report.shifted_pair import ShiftedPair

QUESTION = "Does what fusing the layers gains on clean test images hold on damaged ones, and in every sub-population?"


def shift_blocks(material: Material, drawings: Mapping[str, Drawing]) -> list[Markup]:
    """Return what the section holds.

    Args:
        material: What to show; some pair was evaluated under shift, or could not be.
        drawings: Of each pair by its label.
    """
    return [
        element("p", QUESTION, class_="muted"),
        element("p", shift_headline(material.shifted), class_="lead"),
        *_on_batch_statistics(material.shifted),
        *(_block(pair, drawings) for pair in material.shifted),
        *(_failed(failure) for failure in material.unshifted),
    ]


def shift_headline(pairs: Sequence[ShiftedPair]) -> str:
    """Return in one or two sentences on how many pairs VFusion stays ahead of the last layer under damage.

    Ahead means that the paired 95 % interval of the mean over corruptions lies above zero.

    Args:
        pairs: All that were evaluated.
    """
    spans = [
        score.differences[LAST]
        for pair in pairs
        if (score := pair.mean_score(FUSED)) is not None and LAST in score.differences
    ]
    told = []
    if spans:
        ahead = sum(span.low > 0 for span in spans)
        behind = sum(span.high < 0 for span in spans)
        told.append(
            f"On damaged test images VFusion is ahead of the last layer in {ahead} of {counted(len(spans), 'pair')} of dataset and backbone, behind in "
            f"{behind} and not told apart in {len(spans) - ahead - behind}, by the mean over corruptions and severities."
        )
    grouped = [pair.label for pair in pairs if pair.subpopulations is not None]
    if grouped:
        told.append(f"Sub-populations are named by {', '.join(grouped)}.")
    return " ".join(told) or "Nothing under shift compares VFusion with the last layer."


def shift_sentence(pair: ShiftedPair) -> str:
    """Return in one sentence what damage costs VFusion and the last layer, and what is between them.

    Args:
        pair: Results under shift.
    """
    fused, last = pair.mean_score(FUSED), pair.mean_score(LAST)
    if fused is None or last is None:
        return "VFusion and the last layer were not both evaluated on damaged images."
    span = fused.differences[LAST]
    held = "a difference" if told_apart(span) else "not told apart"
    return (
        f"Over all damage VFusion gets {percent(fused.accuracy.value)} ({_clean(pair, FUSED)} on clean images), the last layer "
        f"{percent(last.accuracy.value)} ({_clean(pair, LAST)}): {points(span.value)}, 95 % interval {points(span.low)} to "
        f"{points(span.high)}, {held}."
    )


def group_sentence(pair: ShiftedPair) -> str:
    """Return in one sentence the worst groups of VFusion and of the last layer.

    Args:
        pair: Results under shift of a dataset with sub-populations.
    """
    assert pair.subpopulations is not None, "only datasets with sub-populations have this sentence"
    found = {one.name: one for one in pair.subpopulations.methods}
    if FUSED not in found or LAST not in found:
        return "VFusion and the last layer were not both evaluated by sub-population."
    fused, last = found[FUSED], found[LAST]
    return (
        f"In its worst sub-population ({fused.worst_group}) VFusion gets {percent(fused.worst.value)}, the last layer in its own "
        f"({last.worst_group}) {percent(last.worst.value)}; mean over sub-populations {percent(fused.mean.value)} and "
        f"{percent(last.mean.value)}."
    )


def _clean(pair: ShiftedPair, name: str) -> str:
    span = pair.clean.get(name)
    return percent(None if span is None else span.value, missing="unknown")


def _block(pair: ShiftedPair, drawings: Mapping[str, Drawing]) -> Markup:
    parts: list[Markup] = [element("h3", pair.label)]
    if pair.label in drawings:
        drawing = drawings[pair.label]
        caption = element(
            "figcaption",
            element("b", drawing.title),
            ". ",
            f"n = {pair.num_test:,} test images under each damage. Blue: VFusion ahead of the last layer, orange: behind, in percentage points; "
            "brackets: the paired 95 % interval holds zero. Intervals are below.",
        )
        parts += [
            element("p", shift_sentence(pair)),
            element("figure", drawing.inline(), caption, class_="wide"),
            shift_tables.means(pair),
            element("p", adapted_sentence(pair)),
            *_adapted_table(pair),
            element(
                "details",
                element("summary", f"Damage by damage: {pair.label}"),
                shift_tables.conditions(pair),
            ),
        ]
    if pair.subpopulations is not None:
        parts += [element("p", group_sentence(pair)), shift_tables.groups(pair)]
    return join(parts)


def _on_batch_statistics(pairs: Sequence[ShiftedPair]) -> list[Markup]:
    """Return what they change over all pairs and what they assume; nothing where no pair has them."""
    told = adapted_headline(pairs)
    return [element("p", told, " ", ASSUMPTION)] if told else []


def _adapted_table(pair: ShiftedPair) -> list[Markup]:
    return [adapted_means(pair)] if pair.adapted_mean is not None and pair.adapted_mean.scores else []


def _failed(failure: Failure) -> Markup:
    return element(
        "article",
        element("h3", failure.label),
        element("span", "not evaluated under shift", class_="tag"),
        element("p", failure.reason),
        class_="card failed",
    )
