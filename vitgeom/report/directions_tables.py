"""The tables of directions: every number behind the pictures, and the bounds of the theory beside what was measured."""

from __future__ import annotations

from vitgeom.bootstrap import Interval
from vitgeom.report.directed_decoder import Bound, DecoderDirections
from vitgeom.report.directed_pair import DirectedPair
from vitgeom.report.directions_verdict import REGIMES
from vitgeom.report.markup import Markup, table
from vitgeom.report.numbers import between, percent, significant
from vitgeom.report.verdict import spelled

UNDEFINED = "undefined"
CLAIMS = {
    "captured_share": "the directions found hold no more than kappa_cap",
    "truncated_importance": "importance² of a token exceeds its squared block norm by no more than 0 (share of ‖J‖²)",
    "best_tokens": "the best tenth of the patches holds no more than the variation over patches allows (share of ‖J‖²)",
    "first_order_change": "patches moved by 1 % to their mean: the output moves no more than block norms allow",
}
BOTTLENECK = "no more directions than the narrowest place lets through; here the outputs, as nothing narrower stands before them"


def ranks(pair: DirectedPair) -> Markup:
    """Return one row per decoder and layer: shape, method, what R directions hold, norm and effective ranks.

    Args:
        pair: Of one dataset × backbone.
    """
    rows = [
        (
            one.label,
            f"{one.outputs:,} × {one.columns:,}",
            one.found,
            spelled(one.value("kappa"), missing=UNDEFINED),
            percent(one.flat),
            rank_90(one),
            _spelled(one.value("participation_ratio")),
            _spelled(one.value("entropy_rank"), missing="not measured" if one.density is None else UNDEFINED),
            _spelled(one.value("stable_rank")),
            _spelled(one.value("norm")),
            f"{one.recipe}, {significant(one.products / one.images)}",
        )
        for one in pair.decoders
    ]
    return table(
        (
            "decoder and layer",
            "outputs × features",
            "directions R",
            "held: kappa_cap(R)",
            "flat spectrum",
            "directions for 90 %",
            "participation ratio",
            "entropy rank",
            "stable rank",
            "‖J‖²",
            "recipe, products per image",
        ),
        rows,
        caption=f"{pair.label}: how many directions. {_images(pair)}; means with 95 % intervals over images.",
    )


def tokens(pair: DirectedPair) -> Markup:
    """Return one row per decoder and layer: variation over tokens with and without prefix tokens, and the regimes of the images.

    Args:
        pair: Of one dataset × backbone.
    """
    rows: list[tuple[str | int, ...]] = [
        (
            one.label,
            *(
                _spelled(one.value(figure))
                for figure in (
                    "variation_patches",
                    "variation",
                    "variation_weighted_patches",
                    "variation_weighted",
                )
            ),
            significant(one.scatter),
            ", ".join(f"{REGIMES[name]}: {one.regimes[name]}" for name in REGIMES if name in one.regimes),
            one.close,
        )
        for one in pair.decoders
    ]
    prefix = ", ".join(f"{kind} {count}" for kind, count in pair.prefix) or "none"
    return table(
        (
            "decoder and layer",
            "CV, patches only",
            "CV, all tokens",
            "weighted CV, patches only",
            "weighted CV, all tokens",
            "CV of random directions",
            "images by regime",
            "close to a border",
        ),
        rows,
        caption=(
            f"{pair.label}: which tokens. Coefficient of variation (CV) of the directions' energy over tokens, weighted by σ² in the weighted "
            f"form. {_images(pair)}; means with 95 % intervals over images. Patches: {pair.grid[0]} × {pair.grid[1]}; prefix tokens: {prefix}."
        ),
    )


def bounds(pair: DirectedPair) -> Markup:
    """Return one row per decoder, layer and bound, with the image on which least is left of it.

    Args:
        pair: Of one dataset × backbone.
    """
    rows = [row for one in pair.decoders for row in _bound_rows(one)]
    return table(
        ("decoder and layer", "theorem", "claim", "measured", "bound", "allowance", "images", "holds"),
        rows,
        caption=(
            f"{pair.label}: bounds of the theory beside what was measured, on the image where least is left. The allowance covers rounding, "
            "estimates and, in theorem 4, what first order leaves out. A bound that does not hold is a defect of the program."
        ),
        words=True,
    )


def rank_90(one: DecoderDirections) -> str:
    """Return in words how many directions hold 90 %, and how well that is known.

    Args:
        one: A decoder at a layer.
    """
    known = one.rank_90
    if known is None:
        return UNDEFINED
    mean = one.value("r_90")
    if known.status == "exact":
        return f"{_spelled(mean)}, of each image known exactly"
    if known.status == "interval":
        return f"between {known.low:,} and {known.high:,}"
    guess = "" if mean is None else f"; density: {_spelled(mean)}"
    return f"at least {known.low:,}{guess}"


def _bound_rows(one: DecoderDirections) -> list[tuple[str, ...]]:
    measured = [
        (
            one.label,
            str(bound.theorem),
            CLAIMS.get(bound.check, bound.check.replace("_", " ")),
            _precise(bound.measured),
            _precise(bound.bound),
            significant(bound.slack),
            f"{bound.images:,}",
            _holds(bound),
        )
        for bound in one.bounds
    ]
    longest = max((len(sigma) for sigma in one.spectra), default=0)
    third = (
        one.label,
        "3",
        BOTTLENECK,
        f"{longest} found",
        f"{one.outputs:,}",
        "0",
        f"{one.images:,}",
        "yes" if longest <= one.outputs else "NO",
    )
    return sorted([*measured, third], key=lambda row: row[1])


def _holds(bound: Bound) -> str:
    return "yes" if not bound.violated else f"NO, on {bound.violated:,} ({bound.sample})"


def _precise(number: float) -> str:
    """Return five digits: a figure that meets its bound differs from it in the last ones."""
    return (f"{number:.5g}" if abs(number) >= 1e-3 or number == 0 else f"{number:.1e}").replace("-", "−")


def _spelled(span: Interval | None, *, missing: str = UNDEFINED) -> str:
    return missing if span is None else between(span.value, span.low, span.high)


def _images(pair: DirectedPair) -> str:
    counts = sorted({one.images for one in pair.decoders})
    return f"n = {' or '.join(f'{count:,}' for count in counts)} test images"
