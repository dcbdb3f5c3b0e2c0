"""Diagnoses of many images together: means, spread and bootstrap intervals over images.   n = images, R = directions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval, bootstrap_interval
from vitgeom.errors import InvalidInput
from vitgeom.linop import LinearOperator
from vitgeom.randnla.products import NOTHING_SPENT, Products
from vitgeom.spectra.diagnose import diagnose
from vitgeom.spectra.diagnosis import Diagnosis

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)


@dataclass(frozen=True)
class Summary:
    """One figure over images.

    Attributes:
        mean: With its 95 % bootstrap interval over images; a point for one image.
        std: Sample standard deviation over images, 0 for one.
        quantiles: At 5, 25, 50, 75 and 95 %.
        images: Where the figure is defined.
    """

    mean: Interval
    std: float
    quantiles: tuple[float, ...]
    images: int

    def to_json(self) -> dict[str, Any]:
        """Return all fields by name."""
        return asdict(self)


@dataclass(frozen=True)
class DatasetDiagnosis:
    """What holds over a set of images.

    Attributes:
        images: n.
        figures: By name; a figure that is undefined for every image is None.
        kappa_caps_R: Mean curve over images with a defined one, as long as the shortest of them.
        regimes: How many images fell into each.
        products: Spent in all.
    """

    images: int
    figures: Mapping[str, Summary | None]
    kappa_caps_R: Float64[Tensor, " r"] | None
    regimes: Mapping[str, int]
    products: Products

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON."""
        return {
            "images": self.images,
            "figures": {
                name: None if summary is None else summary.to_json() for name, summary in self.figures.items()
            },
            "kappa_caps": None if self.kappa_caps_R is None else self.kappa_caps_R.tolist(),
            "regimes": dict(self.regimes),
            "products": self.products.to_json(),
        }


FIGURES: Mapping[str, Callable[[Diagnosis], float | None]] = {
    "kappa": lambda each: None if each.kappa is None else each.kappa.value,
    "norm": lambda each: each.norm.value,
    "variation": lambda each: each.variation.all_tokens,
    "variation_patches": lambda each: each.variation.patches,
    "variation_weighted": lambda each: each.variation_weighted.all_tokens,
    "variation_weighted_patches": lambda each: each.variation_weighted.patches,
    "participation_ratio": lambda each: each.ranks.participation_ratio,
    "entropy_rank": lambda each: each.ranks.entropy_rank,
    "stable_rank": lambda each: each.ranks.stable_rank,
    "r_90": lambda each: None if each.ranks.r_90 is None else each.ranks.r_90.value,
}


def diagnose_dataset(
    images: Iterable[Diagnosis | LinearOperator],
    *,
    num_resamples: int = 1000,
    generator: Generator,
    **settings: Any,
) -> DatasetDiagnosis:
    """Aggregate the diagnoses of independent images; operators are diagnosed one at a time and let go.

    Intervals say how well the mean over images is known, not how well each image is. Several crops of one image are not independent: average them first.

    Args:
        images: Diagnoses, or operators to be diagnosed with ``settings``.
        num_resamples: Of the bootstrap.
        generator: The only source of randomness.
        **settings: For :func:`diagnose`, as rank, recipe, budget, num_tokens, num_prefix.

    Raises:
        InvalidInput: There are no images, or a setting is bad.
        NumericalFailure: A product is not finite.
    """
    found = (
        each if isinstance(each, Diagnosis) else diagnose(each, generator=generator, **settings)
        for each in images
    )
    return aggregate([image_of(each) for each in found], num_resamples=num_resamples, generator=generator)


@dataclass(frozen=True)
class ImageFigures:
    """What an aggregate takes of one image.

    Attributes:
        figures: By the names of ``FIGURES``; None where undefined.
        kappa_caps_R: The curve; None for a zero Jacobian.
        regime: Name of the regime.
        products: Spent.
    """

    figures: Mapping[str, float | None]
    kappa_caps_R: Float64[Tensor, " r"] | None
    regime: str
    products: Products

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON."""
        return {
            "figures": dict(self.figures),
            "kappa_caps": None if self.kappa_caps_R is None else self.kappa_caps_R.tolist(),
            "regime": self.regime,
            "products": {"jvp": self.products.jvp, "vjp": self.products.vjp},
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ImageFigures:
        """Rebuild from :meth:`to_json`."""
        curve = data["kappa_caps"]
        return cls(
            dict(data["figures"]),
            None if curve is None else torch.tensor(curve, dtype=torch.float64),
            data["regime"],
            Products(**data["products"]),
        )


def image_of(diagnosis: Diagnosis) -> ImageFigures:
    """Return what an aggregate takes of a diagnosis, without its arrays.

    Args:
        diagnosis: Of one image.
    """
    return ImageFigures(
        {name: figure(diagnosis) for name, figure in FIGURES.items()},
        diagnosis.kappa_caps_R,
        diagnosis.regime.name,
        diagnosis.products,
    )


def aggregate(
    images: Sequence[ImageFigures], *, num_resamples: int = 1000, generator: Generator
) -> DatasetDiagnosis:
    """Aggregate the figures of independent images, as :func:`diagnose_dataset` does.

    Args:
        images: At least one.
        num_resamples: Of the bootstrap.
        generator: The only source of randomness.

    Raises:
        InvalidInput: There are no images.
    """
    if not images:
        raise InvalidInput("images must hold at least one diagnosis or operator, got none.")
    return DatasetDiagnosis(
        images=len(images),
        figures={
            name: summary(
                [each.figures[name] for each in images], num_resamples=num_resamples, generator=generator
            )
            for name in FIGURES
        },
        kappa_caps_R=_mean_curve([each.kappa_caps_R for each in images if each.kappa_caps_R is not None]),
        regimes=Counter(each.regime for each in images),
        products=sum((each.products for each in images), NOTHING_SPENT),
    )


def summary(
    values: Sequence[float | None], *, num_resamples: int = 1000, generator: Generator
) -> Summary | None:
    """Summarise one figure over independent images.

    Args:
        values: One per image, None where undefined.
        num_resamples: Of the bootstrap.
        generator: The only source of randomness.

    Returns:
        None if it is undefined for every image.
    """
    defined = torch.tensor([value for value in values if value is not None], dtype=torch.float64)
    if len(defined) == 0:
        return None
    return Summary(
        bootstrap_interval(defined, num_resamples=num_resamples, generator=generator),
        float(defined.std()) if len(defined) > 1 else 0.0,
        tuple(torch.quantile(defined, torch.tensor(QUANTILES, dtype=torch.float64)).tolist()),
        len(defined),
    )


def _mean_curve(curves: list[Tensor]) -> Tensor | None:
    if not curves:
        return None
    shortest = min(len(curve) for curve in curves)
    return torch.stack([curve[:shortest] for curve in curves]).mean(dim=0)
