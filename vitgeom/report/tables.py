"""The tables of the report: every number behind the pictures."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.bootstrap import Interval
from vitgeom.report.combination import Combination
from vitgeom.report.markup import Markup, table
from vitgeom.report.material import Cost
from vitgeom.report.numbers import duration, percent, points, scientific, signed_points, size
from vitgeom.report.verdict import answer, spelled

NO_ERRORS = "no errors"
UNKNOWN = "not recorded"
UNDEFINED = "not defined"
LEVELS = ("r_any", "refit_control", "floor_permutation", "floor_uniform")


def accuracies(pairs: Sequence[Combination]) -> Markup:
    """Return one row per pair: best layer, last layer, their difference, oracle and gap.

    Args:
        pairs: Finished pairs.
    """
    header = (
        "dataset × backbone",
        "n test",
        "layers",
        "best layer",
        "best",
        "last",
        "best − last",
        "McNemar p",
        "oracle",
        "oracle − best",
    )
    rows = [
        (
            pair.label, f"{pair.num_test:,}", pair.num_layers, pair.best_layer, spelled(pair.best.accuracy),
            spelled(pair.layers[-1].accuracy), _difference(pair.gain), f"{pair.mcnemar_p:.2g}", spelled(pair.oracle), _difference(pair.gap),
        )
        for pair in pairs
    ]  # fmt: skip
    return table(
        header,
        rows,
        caption="Test accuracy: shares of n test images with 95 % intervals; the best layer is chosen on validation.",
    )


def recoverability(pairs: Sequence[Combination]) -> Markup:
    """Return one row per pair: errors, R_any and the levels it is held against.

    Args:
        pairs: Finished pairs.
    """
    header = ("dataset × backbone", "answer", "errors of last", "R_any", "refits", "permuted", "guessing")
    rows = [
        (
            pair.label,
            answer(pair).value,
            f"{pair.errors:,}",
            *(_level(pair, getattr(pair, key)) for key in LEVELS),
        )
        for pair in pairs
    ]
    return table(
        header, rows, caption="Recoverability: shares of the last layer's test errors with 95 % intervals."
    )


def relations(pairs: Sequence[Combination]) -> Markup:
    """Return one row per pair: how corrections are spread, and how differently the layers err.

    Args:
        pairs: Finished pairs.
    """
    header = (
        "dataset × backbone",
        "correction entropy",
        "geometric disagreement",
        "pairwise disagreement",
        "Q statistic",
        "double fault",
    )
    rows = []
    for pair in pairs:
        entropy = None if pair.corrections is None else pair.corrections.entropy
        angle = None if pair.geometry is None else pair.geometry.centred
        pairwise = pair.diversity
        rows.append(
            (
                pair.label,
                _number(entropy),
                _number(angle),
                spelled(None if pairwise is None else pairwise.disagreement, missing=UNDEFINED),
                _number(None if pairwise is None else pairwise.q_statistic),
                spelled(None if pairwise is None else pairwise.double_fault, missing=UNDEFINED),
            )
        )
    return table(
        header,
        rows,
        caption="How the layers relate: the first two over the last layer's errors, the rest over all test images and pairs of layers; 95 % intervals.",
    )


def agreement(pair: Combination) -> Markup:
    """Return, for each two layers, the share of test images on which they predict the same class.

    Args:
        pair: One finished pair with several layers.
    """
    assert pair.diversity is not None, "only pairs with several layers have this table"
    matrix = pair.diversity.agreement_by_pair
    header = ("layer", *(str(number) for number in range(1, len(matrix) + 1)))
    rows = [
        (str(number), *(f"{100 * (value or 0.0):.0f}" for value in row))
        for number, row in enumerate(matrix, start=1)
    ]
    return table(
        header,
        rows,
        caption=f"{pair.label}: n = {pair.num_test:,} test images; per cent of them on which two layers say the same.",
    )


def layers(pair: Combination) -> Markup:
    """Return one row per layer: accuracy, recoverability and the state of its probe.

    Args:
        pair: One finished pair.
    """
    header = (
        "layer",
        "test accuracy",
        "mean per class",
        "R_l",
        "validation accuracy",
        "validation loss (nats)",
        "L2",
        "gradient norm (relative)",
        "converged",
    )
    rows = [
        (
            f"{layer.layer}{' (best)' if layer.layer == pair.best_layer else ''}", spelled(layer.accuracy), spelled(layer.accuracy_per_class),
            "last" if layer.layer == pair.num_layers else spelled(layer.recoverability, missing=NO_ERRORS), percent(layer.val_accuracy),
            f"{layer.val_loss:.4f}", scientific(layer.l2), scientific(layer.grad_norm), "yes" if layer.converged else "NO",
        )
        for layer in pair.layers
    ]  # fmt: skip
    caption = f"{pair.label}: n = {pair.num_test:,} test images, {pair.errors:,} errors of the last layer, {pair.num_classes:,} classes; 95 % intervals."
    return table(header, rows, caption=caption)


def costs(entries: Sequence[Cost]) -> Markup:
    """Return seconds and bytes by stage; a column that nothing is known of is left out.

    Args:
        entries: At least one.
    """
    columns = {
        "images": [UNKNOWN if cost.rows is None else f"{cost.rows:,}" for cost in entries],
        "time": [duration(cost.seconds) for cost in entries],
        "stored": [size(cost.num_bytes, missing=UNKNOWN) for cost in entries],
        "peak memory": [size(cost.peak_bytes, missing=UNKNOWN) for cost in entries],
    }
    known = {title: cells for title, cells in columns.items() if set(cells) != {UNKNOWN}}
    names = [(cost.stage, cost.dataset, cost.backbone) for cost in entries]
    rows = [(*name, *numbers) for name, numbers in zip(names, zip(*known.values(), strict=True), strict=True)]
    caption = "What each stage took when it was computed: time of all its units together, whichever processes ran them; stored bytes; largest memory of a process."
    return table(("stage", "dataset", "backbone", *known), rows, caption=caption)


def quarantine(entries: Sequence[tuple[str, str, str]]) -> Markup:
    """Return the files that were left out.

    Args:
        entries: (dataset, path, reason), at least one.
    """
    files = "file" if len(entries) == 1 else "files"
    return table(
        ("dataset", "path", "reason"),
        entries,
        caption=f"Quarantine: {len(entries):,} {files} could not be used.",
        words=True,
    )


def _difference(span: Interval) -> str:
    return f"{points(span.value)} ({signed_points(span.low)} to {signed_points(span.high)})"


def _number(span: Interval | None) -> str:
    return (
        UNDEFINED
        if span is None
        else f"{span.value:.2f} ({span.low:.2f} to {span.high:.2f})".replace("-", "−")
    )


def _level(pair: Combination, span: Interval | None) -> str:
    return spelled(span, missing="one layer" if pair.num_layers == 1 else NO_ERRORS)
