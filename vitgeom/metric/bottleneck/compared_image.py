"""One image at the three places where directions are counted, and what the bottleneck makes of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Generator, Tensor

from vitgeom.decoders.output_metrics import output_metric
from vitgeom.linop import JacobianOperator
from vitgeom.metric.bottleneck.losses import share_unexplained
from vitgeom.metric.bottleneck.point import PointOf
from vitgeom.metric.bottleneck.through_bottleneck import FromLatents, ThroughBottleneck
from vitgeom.spectra import diagnose
from vitgeom.spectra.dataset import ImageFigures, image_of

TruthFigures = Callable[[Tensor, Tensor], Mapping[str, float]]
"""Outputs [1, ...] and truths [1, ...] -> figures by name, as ``vitgeom.decoders.training.objectives.depth_figures``."""


@dataclass(frozen=True)
class ComparedImage:
    """One image, without its arrays.

    Attributes:
        stages: Before, after, from the latents.
        statuses: How well r_0.90 is known at each; "none" where it is undefined.
        rebuild_error: Share of the tokens' variance between images that is not rebuilt.
        task_error: The same of the output.
        truth: Figure -> from original and from rebuilt tokens; empty without a truth.
    """

    stages: tuple[ImageFigures, ...]
    statuses: tuple[str, ...]
    rebuild_error: float
    task_error: float
    truth: Mapping[str, tuple[float, float]] = field(default_factory=dict)


def compare_image(
    through: ThroughBottleneck,
    image: Tensor,
    *,
    metric: str,
    truth: Tensor | None = None,
    truth_figures: TruthFigures | None = None,
    generator: Generator,
    **settings: Any,
) -> ComparedImage:
    """Diagnose one image before and after the bottleneck and from its latents.

    Args:
        through: The head behind its bottleneck.
        image: Preprocessed pixels [3, H, W].
        metric: Of the output, a key of ``OUTPUT_METRICS``.
        truth: What the head should say.
        truth_figures: How an output is held against it.
        generator: The only source of randomness.
        **settings: For :func:`diagnose`: rank, recipe, budget.

    Raises:
        InvalidInput: An image that cannot be used, or a bad setting.
        UnknownName: There is no such recipe or metric.
        NumericalFailure: A product is not finite.
    """
    joined = through.joined
    features = joined.features_of(image)
    places = (
        (joined.at_features(features), joined.num_prefix),
        (through.at_features(features), joined.num_prefix),
        (FromLatents(through).at_features(features), 0),
    )
    diagnoses = [
        diagnose(_operator(point, metric, num_prefix=prefix), generator=generator, **settings)
        for point, prefix in places
    ]
    with torch.no_grad():
        rebuilt = through.rebuilt(features)
        outputs = joined.read(torch.stack([features, rebuilt]))
    scaled = through.vae.scale.standardised(torch.stack([features, rebuilt]))
    vae = through.vae
    return ComparedImage(
        stages=tuple(image_of(each) for each in diagnoses),
        statuses=tuple("none" if each.ranks.r_90 is None else each.ranks.r_90.status for each in diagnoses),
        rebuild_error=float(share_unexplained(scaled[1:], scaled[:1], variance=vae.token_variance)),
        task_error=float(share_unexplained(outputs[1:], outputs[:1], variance=vae.output_variance)),
        truth={} if truth is None or truth_figures is None else _against(truth, outputs, truth_figures),
    )


def _operator(point: PointOf, metric: str, *, num_prefix: int) -> JacobianOperator:
    with torch.no_grad():
        weighed = output_metric(metric, point(point.features))
    return JacobianOperator(point, point.features, output_metric=weighed, num_prefix=num_prefix)


def _against(truth: Tensor, outputs: Tensor, figures: TruthFigures) -> dict[str, tuple[float, float]]:
    original, rebuilt = (figures(output[None], truth[None]) for output in outputs)
    return {name: (float(original[name]), float(rebuilt[name])) for name in original}
