"""The paper's figures about learnt metrics, and ours of the decoders in the same regime."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from vitgeom.report.learnt_decoder import HEAD, RANKED, LearntDecoder
from vitgeom.report.learnt_pair import LearntPair
from vitgeom.report.learnt_rules import spelled_mean
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import significant

ELSEWHERE = "no head was learnt in this regime here"


@dataclass(frozen=True)
class PaperFigure:
    """One figure of the paper.

    Attributes:
        what: In words.
        theirs: As the paper states it.
        ours: The same figure of a decoder; None where it does not have it.
    """

    what: str
    theirs: str
    ours: Callable[[LearntDecoder], str | None]
    absent: str = "not learnt"


def _head(*regimes: str) -> Callable[[LearntDecoder], str | None]:
    def told(one: LearntDecoder) -> str | None:
        if one.choice.regime not in regimes or HEAD not in one.scores:
            return None
        return f"{spelled_mean(one.rho(HEAD))}, ceiling {spelled_mean(one.ceiling[RANKED])}"

    return told


def _network(one: LearntDecoder) -> str | None:
    found = one.alignment
    if found is None:
        return None
    return (
        f"{spelled_mean(found.learnt)}, ceiling {spelled_mean(found.ceiling)}, random {significant(found.chance)}, one subspace for all images "
        f"{spelled_mean(found.constant)}"
    )


def _change(figure: str) -> Callable[[LearntDecoder], str | None]:
    def told(one: LearntDecoder) -> str | None:
        found = one.bottleneck
        if found is None:
            return None
        change = found.figures[figure]
        return f"{spelled_mean(change.before)} → {spelled_mean(change.after)}, rebuild error {spelled_mean(found.rebuild_error)}"

    return told


PAPER = (
    PaperFigure("importance head, some tokens far above others: ρ", "0.998", _head("token_local"), ELSEWHERE),
    PaperFigure(
        "importance head, spread over tokens (depth, DPT): ρ",
        "0.20",
        _head("low_rank_delocalised", "high_rank"),
        ELSEWHERE,
    ),
    PaperFigure("network: V1, its ceiling, random", "0.713, 0.710, 0.005", _network),
    PaperFigure(
        "bottleneck: effective rank before → behind it", "282 → 30 to 53", _change("participation_ratio")
    ),
    PaperFigure("bottleneck: directions for 90 % behind it", "about 40", _change("r_90")),
)


def learnt_paper(pairs: Sequence[LearntPair]) -> Markup:
    """Return the paper's figures with ours beside them, by dataset × backbone, decoder and layer.

    Args:
        pairs: All of which something was to be learnt.
    """
    return table(
        ("figure", "paper", "dataset × backbone", "here", "n test images"),
        [row for figure in PAPER for row in _rows(pairs, figure)],
        caption=(
            "Paper / here: datasets, backbones and heads differ, so sizes need not agree; what can be compared is which decoders can be learnt. Here: means "
            "with 95 % intervals over images. Decoders are sorted by the regime that was found here."
        ),
        words=True,
    )


def _rows(pairs: Sequence[LearntPair], figure: PaperFigure) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for pair in pairs:
        told = [(one, words) for one in pair.decoders if (words := figure.ours(one)) is not None]
        if told:
            here = "; ".join(f"{one.label}: {words}" for one, words in told)
            rows.append(
                (figure.what, figure.theirs, pair.label, here, f"{told[0][0].images.get('test', 0):,}")
            )
    return rows or [(figure.what, figure.theirs, figure.absent, figure.absent, "none")]
