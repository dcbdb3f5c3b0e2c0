"""What one decoder at one layer reacts to, over a few images: checked, frozen, as the report needs it.

M = outputs, N = tokens, D = width, R = directions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.report.named_decoder import NamedDecoder
from vitgeom.report.pictured_tokens import TokenMap
from vitgeom.spectra.advice import CLOSE


@dataclass(frozen=True)
class Measured:
    """Mean of one figure over images with its 95 % bootstrap interval, and on how many images it is defined."""

    mean: Interval
    images: int


@dataclass(frozen=True)
class RankRange:
    """r_0.90 over images: known exactly, only between two numbers, or only from below (``low``) on some of them."""

    status: str
    low: int
    high: int


@dataclass(frozen=True)
class Bound:
    """One bound over images, with the figures of the image on which least is left of it.

    Attributes:
        check: Which one.
        theorem: Its number.
        images: On how many it was checked.
        violated: On how many it does not hold.
        sample: The image.
        measured: Its figure.
        bound: What that must not exceed.
        slack: Granted for rounding, estimates and the second-order remainder.
    """

    check: str
    theorem: int
    images: int
    violated: int
    sample: str
    measured: float
    bound: float
    slack: float


@dataclass(frozen=True)
class Density:
    """Eigenvalues sigma^2 of one image, and how many each stands for."""

    sample: str
    values: tuple[float, ...]
    counts: tuple[float, ...]


@dataclass(frozen=True)
class DecoderDirections(NamedDecoder):
    """One decoder at one layer.

    Attributes:
        outputs: M.
        columns: N D.
        num_tokens: N.
        rank: R as asked for.
        recipe: How it was measured.
        paths: How products with J and with its transpose were made.
        images: How many.
        figures: By the names of ``vitgeom.spectra.dataset.FIGURES``; None where a figure is defined on no image.
        curves: kappa_cap(1), kappa_cap(2), ... of each image that has them.
        spectra: Singular values of each image, descending, without those that are not there.
        density: Of one image; None where nothing was spent on it.
        rank_90: None where it is defined on no image.
        regimes: Name -> images.
        regime: The commonest.
        close: Images so near to a border between regimes that their verdict may be the other one.
        thresholds: (kappa_cap, variation over patches) at these borders.
        bounds: Of the theory.
        maps: Of the first images.
        products: Spent on all images together.
    """

    outputs: int
    columns: int
    num_tokens: int
    rank: int
    recipe: str
    paths: tuple[str, str]
    images: int
    figures: Mapping[str, Measured | None]
    curves: tuple[tuple[float, ...], ...]
    spectra: tuple[tuple[float, ...], ...]
    density: Density | None
    rank_90: RankRange | None
    regimes: Mapping[str, int]
    regime: str
    close: int
    thresholds: tuple[float, float]
    bounds: tuple[Bound, ...]
    maps: tuple[TokenMap, ...]
    products: int

    @property
    def found(self) -> int:
        """Directions that can be had: R, or fewer where J has fewer."""
        return min(self.rank, self.outputs, self.columns)

    @property
    def flat(self) -> float:
        """kappa_cap(R) of a flat spectrum, R / min(M, N D): the least that there can be."""
        return self.found / min(self.outputs, self.columns)

    @property
    def scatter(self) -> float:
        """Variation over tokens of a random R-dimensional subspace, about sqrt(2 / (D R))."""
        return (2 / (self.columns / self.num_tokens * self.found)) ** 0.5

    def value(self, figure: str) -> Interval | None:
        """Return the mean of a figure over images, None where it is undefined."""
        found = self.figures[figure]
        return None if found is None else found.mean


def parse_decoder(content: Mapping[str, Any], *, num_tokens: int) -> DecoderDirections:
    """Read one entry of ``pairs`` in a file of directions.

    Args:
        content: The entry.
        num_tokens: N.

    Raises:
        KeyError: A part is missing; likewise TypeError, ValueError and IndexError for parts of another shape.
    """
    images, whole = content["images"], content["figures"]
    verdicts = [each["regime"] for each in images]
    return DecoderDirections(
        name=str(content["decoder"]["name"]),
        layer=int(content["decoder"]["layer"]),
        metric=str(content["decoder"]["metric"]),
        outputs=int(content["shape"][0]),
        columns=int(content["shape"][1]),
        num_tokens=num_tokens,
        rank=int(content["rank"]),
        recipe=str(content["recipe"]),
        paths=(str(content["paths"]["jvp_path"]), str(content["paths"]["vjp_path"])),
        images=int(whole["images"]),
        figures={name: _measured(found) for name, found in whole["figures"].items()},
        curves=tuple(_floats(curve) for curve in content["kappa_caps"] if curve is not None),
        spectra=tuple(_floats(sigma, positive=True) for sigma in content["singular_values"]),
        density=_density(content["density"]),
        rank_90=_rank_range([each["effective_ranks"]["r_90"] for each in images]),
        regimes={str(name): int(count) for name, count in whole["regimes"].items()},
        regime=str(content["advice"]["regime"]),
        close=sum(_is_close(verdict) for verdict in verdicts),
        thresholds=(
            float(verdicts[0]["thresholds"]["kappa"]),
            float(verdicts[0]["thresholds"]["variation"]),
        ),
        bounds=_bounds(images),
        maps=tuple(TokenMap(str(each["sample"]), _floats(each["importance"])) for each in content["maps"]),
        products=int(whole["products"]["total"]),
    )


def _measured(found: Mapping[str, Any] | None) -> Measured | None:
    return None if found is None else Measured(Interval.from_json(found["mean"]), int(found["images"]))


def _floats(values: Sequence[Any], *, positive: bool = False) -> tuple[float, ...]:
    return tuple(float(value) for value in values if not positive or value > 0)


def _density(found: Mapping[str, Any] | None) -> Density | None:
    if found is None:
        return None
    return Density(
        str(found["sample"]), _floats(found["values"]), tuple(float(count) for count in found["counts"])
    )


def _rank_range(found: Sequence[Mapping[str, Any] | None]) -> RankRange | None:
    """Return the span over images under the weakest status of all of them."""
    known = [each for each in found if each is not None]
    if not known:
        return None
    order = ("exact", "interval", "bound")
    status = max((str(each["status"]) for each in known), key=order.index)
    return RankRange(
        status, min(int(each["low"]) for each in known), max(int(each["high"]) for each in known)
    )


def _is_close(verdict: Mapping[str, Any]) -> bool:
    """Say whether an image lies near a border of its regime: that of uneven tokens, and, unless it is one of these, that between few and many directions."""
    if verdict["name"] in ("structural", "undefined"):
        return False
    borders = (
        ("variation_margin",) if verdict["name"] == "token_local" else ("variation_margin", "kappa_margin")
    )
    margins = (verdict[border] for border in borders)
    return any(margin is not None and abs(margin) < CLOSE for margin in margins)


def _bounds(images: Sequence[Mapping[str, Any]]) -> tuple[Bound, ...]:
    """Return every check over images, by theorem."""
    by_check: dict[str, list[tuple[str, Mapping[str, Any]]]] = {}
    for image in images:
        for check in image["theorems"]:
            by_check.setdefault(str(check["check"]), []).append((str(image["sample"]), check))
    bounds = [_bound(name, checks) for name, checks in by_check.items()]
    return tuple(sorted(bounds, key=lambda bound: (bound.theorem, bound.check)))


def _bound(name: str, checks: Sequence[tuple[str, Mapping[str, Any]]]) -> Bound:
    sample, worst = max(checks, key=lambda one: one[1]["measured"] - one[1]["bound"] - one[1]["slack"])
    return Bound(
        check=name,
        theorem=int(worst["theorem"]),
        images=len(checks),
        violated=sum(not check["holds"] for _, check in checks),
        sample=sample,
        measured=float(worst["measured"]),
        bound=float(worst["bound"]),
        slack=float(worst["slack"]),
    )
