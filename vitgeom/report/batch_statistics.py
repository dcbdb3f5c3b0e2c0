"""What batch statistics change under shift: the words with what they assume, and the table of each pair."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.fusion.adapted_scores import ITSELF_AS_IS, LAST_ADAPTED
from vitgeom.report.fusion_means import spelled_difference
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import NONE, percent
from vitgeom.report.shift_figures import FUSED, LAST, told_apart
from vitgeom.report.shifted_pair import ShiftedPair, title_of
from vitgeom.report.verdict import spelled

ASSUMPTION = (
    "Batch statistics: every layer of the test images is brought back to the means and deviations of training, with the statistics of all test "
    "images under the same damage together. No label is used and nothing is refitted, but it needs many images of one condition at once, with "
    "roughly the mix of classes of training; for images one at a time it does not exist."
)


def adapted_headline(pairs: Sequence[ShiftedPair]) -> str:
    """Return in one sentence on how many pairs batch statistics help VFusion, and where it stands against the last layer with them.

    Args:
        pairs: All that were evaluated.
    """
    scores = [
        score for pair in pairs if pair.adapted_mean is not None and (score := pair.adapted_mean.score(FUSED))
    ]
    gains = [score.differences[ITSELF_AS_IS] for score in scores]
    rivals = [score.differences[LAST_ADAPTED] for score in scores if LAST_ADAPTED in score.differences]
    if not gains:
        return ""
    told = (
        f"With batch statistics of the damaged images VFusion gains in {sum(span.low > 0 for span in gains)} of {len(gains)} pairs and loses in "
        f"{sum(span.high < 0 for span in gains)}"
    )
    if not rivals:
        return f"{told}."
    return (
        f"{told}; against the last layer treated alike it is ahead in {sum(span.low > 0 for span in rivals)} and behind in "
        f"{sum(span.high < 0 for span in rivals)}."
    )


def adapted_sentence(pair: ShiftedPair) -> str:
    """Return in one sentence what batch statistics change for VFusion and the last layer, under damage and on clean images.

    Args:
        pair: Results under shift with at least one corruption.
    """
    found = pair.adapted_mean
    assert found is not None, (
        "a pair with a mean over damage has it with batch statistics as well, or a reason"
    )
    if found.refused is not None:
        return f"No batch statistics: {found.refused}."
    fused, last = found.score(FUSED), found.score(LAST)
    if fused is None or last is None:
        return "VFusion and the last layer were not both evaluated with batch statistics."
    gain, rival = fused.differences[ITSELF_AS_IS], fused.differences[LAST_ADAPTED]
    return (
        f"With batch statistics VFusion gets {percent(fused.accuracy.value)} over all damage, {spelled_difference(gain)} against itself as it is, and the "
        f"last layer {percent(last.accuracy.value)}: {spelled_difference(rival)} between the two, "
        f"{'a difference' if told_apart(rival) else 'not told apart'}.{_on_clean(pair)}"
    )


def adapted_means(pair: ShiftedPair) -> Markup:
    """Return one row per method: accuracy over all damage both ways, the paired differences, and what it costs on clean images.

    Args:
        pair: Results under shift with batch statistics.
    """
    found, clean = pair.adapted_mean, pair.adapted_clean
    assert found is not None, "the table is of pairs that have batch statistics"
    rows = []
    for score in found.scores:
        as_is = pair.mean_score(score.name)
        on_clean = None if clean is None else clean.score(score.name)
        rows.append(
            (
                title_of(score.name),
                percent(None if as_is is None else as_is.accuracy.value),
                spelled(score.accuracy),
                *(spelled_difference(score.differences.get(rival)) for rival in (ITSELF_AS_IS, LAST_ADAPTED)),
                spelled_difference(None if on_clean is None else on_clean.differences.get(ITSELF_AS_IS)),
            )
        )
    return table(
        (
            "method",
            "mean corruption accuracy",
            "with batch statistics",
            "against itself as is",
            f"against {title_of(LAST).lower()} with them",
            "clean images: against itself as is",
        ),
        rows,
        caption=(
            f"{pair.label}: n = {pair.num_test:,} test images under each damage, whose statistics are taken together; 95 % intervals over images "
            f"with their answers as given, differences paired; '{NONE}' where there is nothing to compare. It assumes many test images of one "
            "condition with roughly the classes of training; no label is used."
        ),
    )


def _on_clean(pair: ShiftedPair) -> str:
    score = None if pair.adapted_clean is None else pair.adapted_clean.score(FUSED)
    if score is None:
        return ""
    return f" On clean images they change VFusion by {spelled_difference(score.differences[ITSELF_AS_IS])}."
