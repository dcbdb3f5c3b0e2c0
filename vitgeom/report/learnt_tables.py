"""The tables of learnt metrics: every number behind the pictures, and what models and exact targets cost."""

from __future__ import annotations

from collections.abc import Mapping

from vitgeom.report.averaged import Averaged
from vitgeom.report.learnt_bottleneck import FIGURES, Bottleneck
from vitgeom.report.learnt_decoder import (
    BOTTLENECK,
    EXACT,
    RANDOM,
    TARGETS,
    TARGETS_MADE,
    LearntDecoder,
    title_of,
)
from vitgeom.report.learnt_pair import LearntPair
from vitgeom.report.learnt_ranks import RankTrial
from vitgeom.report.learnt_rules import UNDEFINED, spelled_mean
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import percent, short_time, significant
from vitgeom.report.trained_model import TrainedModel

TRUNCATION = "exact block norms (truncation)"
ITSELF, UNKNOWN = "the target itself", "not measured"


def importance(pair: LearntPair, one: LearntDecoder) -> Markup:
    """Return one row per score: rho with both targets, its deviation over images, n, and the mean of each seed.

    Args:
        pair: Of one dataset × backbone.
        one: Which decoder, at a layer.
    """
    return table(
        (
            "score",
            "ρ with importance",
            "deviation, n",
            "by seed",
            "ρ with block norms",
            "deviation, n",
            "by seed",
        ),
        _score_rows(one),
        caption=(
            f"{pair.label}, {one.label}: how scores rank patches, Spearman's ρ with the exact importance (from {one.rank} directions) and with exact block "
            "norms (nothing left out); mean over test images with 95 % intervals. Prefix tokens are left out. Chance: the random score. "
            "Two estimates: the ceiling. Exact block norms: one target against the other, which is what truncation costs."
        ),
    )


def alignment(pair: LearntPair) -> Markup:
    """Return one row per decoder with a network: V1, its ceiling, what knows no image, and chance.

    Args:
        pair: Of one dataset × backbone.
    """
    networks = [(one.label, one.rank, one.alignment) for one in pair.decoders if one.alignment is not None]
    networks += [
        (f"{one.label}, latents", behind.rank, behind.alignment)
        for one in pair.decoders
        if one.bottleneck is not None and (behind := one.bottleneck.behind) is not None
    ]
    rows = [
        (
            label,
            rank,
            spelled_mean(found.learnt),
            _spread(found.learnt),
            _seeds(found.learnt),
            spelled_mean(found.ceiling),
            spelled_mean(found.constant),
            significant(found.chance),
        )
        for label, rank, found in networks
    ]
    return table(
        (
            "decoder and layer",
            "directions R",
            "network: V1",
            "deviation, n",
            "by seed",
            "two estimates (ceiling)",
            "one subspace for all images",
            "chance: R / (N D)",
        ),
        rows,
        caption=f"{pair.label}: V1, the share of the exact subspace that is held; mean over test images with 95 % intervals.",
    )


def cost(pair: LearntPair) -> Markup:
    """Return one row per decoder and model: weights, epochs kept, images, and the products that an exact target takes instead.

    Args:
        pair: Of one dataset × backbone.
    """
    rows = [row for one in pair.decoders for row in _cost_rows(one)]
    return table(
        (
            "decoder, model",
            "parameters",
            "seed: epoch kept",
            "own figures on test images",
            "images",
            "one answer per image",
            "exact target per image",
        ),
        rows,
        caption=(
            f"{pair.label}: what a model costs, and what it saves. A product is one multiplication of a vector with the derivative or its transpose, "
            "about one pass through the decoder; a model needs none once it is trained. Times are those of the machine that computed: of a model for one image whose "
            "tokens are there, of a target with the backbone's own pass. Own figures: mean over seeds and test images with 95 % intervals."
        ),
        words=True,
    )


def ranks(one: LearntDecoder) -> Markup:
    """Return one row per trial of the sweep over ranks.

    Args:
        one: A decoder at a layer with a sweep.
    """
    assert one.ranks is not None, "only a decoder with a sweep over ranks has this table"
    rows = [
        (
            f"rank {trial.rank}, width {trial.hidden}",
            _became(trial, best=trial in one.ranks.winners),
            percent(trial.captured),
            percent(trial.ceiling),
            percent(trial.captured / trial.ceiling if trial.captured is not None and trial.ceiling else None),
            significant(trial.alignment),
            significant(trial.rank / one.columns),
            "none" if trial.parameters is None else f"{trial.parameters:,}",
        )
        for trial in one.ranks.trials
    ]
    return table(
        (
            "trial",
            "what became of it",
            "captured",
            "kappa_cap(r): the most",
            "captured of that",
            "V1",
            "V1 by chance",
            "parameters",
        ),
        rows,
        caption=(
            f"{one.label}: ranks and widths that were tried, judged on n = {one.images.get('val', 0):,} validation images; shares of the sensitivity "
            "‖J‖², means over images of one training each, so without intervals."
        ),
    )


def bottlenecks(pair: LearntPair) -> Markup:
    """Return one row per decoder with a bottleneck and figure, before and behind it, with the rebuild error beside every figure.

    Args:
        pair: Of one dataset × backbone.
    """
    rows = [
        (
            f"{one.label}, {words}",
            spelled_mean(found.figures[key].before),
            spelled_mean(found.figures[key].after),
            _spread(found.figures[key].after),
            _seeds(found.figures[key].after),
            spelled_mean(found.rebuild_error),
            spelled_mean(found.task_error),
            f"{found.registers} × {found.width} = {found.latents:,}",
        )
        for one in pair.decoders
        if (found := one.bottleneck) is not None
        for key, words in FIGURES.items()
    ]
    return table(
        (
            "decoder, figure",
            "before",
            "behind the bottleneck",
            "deviation, n",
            "by seed",
            "rebuild error",
            "error of the output",
            "registers × width",
        ),
        rows,
        caption=(
            f"{pair.label}: effective ranks before and behind the bottleneck; mean over test images with 95 % intervals. The figures behind it are of the "
            "rebuilt features, so the rebuild error (share of the tokens' variance) stands beside each."
        ),
    )


def _cost_rows(one: LearntDecoder) -> list[tuple[str, ...]]:
    images = _images(one.images)
    exact = f"{short_time(one.seconds.get(TARGETS_MADE), missing=UNKNOWN)}, {significant(one.products)} products, {one.recipe}"
    rows: list[tuple[str, ...]] = [
        (
            f"{one.label}, {title_of(name)}",
            *_trained(model),
            images,
            short_time(one.seconds.get(name), missing=UNKNOWN),
            exact,
        )
        for name, model in one.models.items()
    ]
    if one.bottleneck is not None:
        rows += _bottleneck_rows(one, one.bottleneck)
    return rows or [(f"{one.label}, no model", "0", "none", "none", images, "none", exact)]


def _bottleneck_rows(one: LearntDecoder, found: Bottleneck) -> list[tuple[str, ...]]:
    errors = f"rebuild error {spelled_mean(found.rebuild_error)}; error of the output {spelled_mean(found.task_error)}"
    own = (
        f"{found.parameters:,}",
        "one training",
        errors,
        _images(one.images),
        UNKNOWN,
        "none: learnt from tokens",
    )
    rows: list[tuple[str, ...]] = [(f"{one.label}, {title_of(BOTTLENECK)}", *own)]
    if found.behind is not None:
        behind = found.behind
        exact = f"{UNKNOWN}, {significant(behind.products)} products, {behind.recipe}"
        rows += [
            (
                f"{one.label}, {title_of(name)} on the latents",
                *_trained(model),
                _images(behind.images),
                UNKNOWN,
                exact,
            )
            for name, model in behind.models.items()
        ]
    return rows


def _trained(model: TrainedModel) -> tuple[str, str, str]:
    kept = (f"{seed}: {_epoch(epoch)}" for seed, epoch in zip(model.seeds, model.epochs, strict=True))
    return f"{model.parameters:,}", ", ".join(kept), _own(model)


def _images(by_split: Mapping[str, int]) -> str:
    return ", ".join(f"{split} {count:,}" for split, count in by_split.items())


def _became(trial: RankTrial, *, best: bool) -> str:
    if trial.problem is not None:
        return f"{trial.state}: {trial.problem}"
    return f"{trial.state}{', best width' if best else ''}"


def _score_rows(one: LearntDecoder) -> list[tuple[str, ...]]:
    names = (*one.learners, EXACT, *one.plain, RANDOM)
    rows = [
        (TRUNCATION if name == EXACT else title_of(name), [one.rho(name, target) for target in TARGETS])
        for name in names
        if name in one.scores
    ]
    levels = [
        ("two estimates (ceiling)", [one.ceiling[target] for target in TARGETS]),
    ]
    found: list[tuple[str, ...]] = []
    for title, (ranked, untruncated) in [*rows, *levels]:
        other = _cells(untruncated) if title != TRUNCATION else (ITSELF, "", "")
        found.append((title, *_cells(ranked), *other))
    return found


def _cells(found: Averaged | None) -> tuple[str, str, str]:
    return spelled_mean(found), _spread(found), _seeds(found)


def _spread(found: Averaged | None) -> str:
    return UNDEFINED if found is None else f"{significant(found.std)}, n = {found.images:,}"


def _seeds(found: Averaged | None) -> str:
    """Return the mean of each seed; where there is one, or nothing is random, it is the mean itself."""
    return UNDEFINED if found is None else ", ".join(significant(value) for value in found.seeds)


def _own(model: TrainedModel) -> str:
    return (
        "; ".join(f"{name.replace('_', ' ')} {spelled_mean(found)}" for name, found in model.figures.items())
        or "none"
    )


def _epoch(epoch: int | None) -> str:
    return "none" if epoch is None else f"{epoch:,}"
