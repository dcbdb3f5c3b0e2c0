"""How many directions a head depends on before and after the bottleneck, with what the bottleneck costs beside it.

n = images, N = tokens, W = numbers per token.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Generator, Tensor

from vitgeom.bootstrap import Interval
from vitgeom.decoders.output_metrics import EUCLIDEAN
from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.metric.bottleneck.compared_image import ComparedImage, TruthFigures, compare_image
from vitgeom.metric.bottleneck.paired_fall import fall
from vitgeom.metric.bottleneck.through_bottleneck import ThroughBottleneck
from vitgeom.seeding import check_generator
from vitgeom.spectra.dataset import DatasetDiagnosis, Summary, aggregate, summary

FALLING = ("participation_ratio", "entropy_rank", "r_90", "stable_rank")


@dataclass(frozen=True)
class StageFigures:
    """One of the three places where directions are counted.

    Attributes:
        diagnosis: Over the images.
        r_90_status: How many images have r_0.90 exactly, within an interval, or as a bound.
    """

    diagnosis: DatasetDiagnosis
    r_90_status: Mapping[str, int]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON."""
        return {**self.diagnosis.to_json(), "r_90_status": dict(self.r_90_status)}


@dataclass(frozen=True)
class BeforeAfter:
    """A head before and after its bottleneck, over images; a figure that is undefined is None.

    Attributes:
        images: n.
        before: The head on the original tokens.
        after: The head behind the bottleneck, as a function of the original tokens.
        latent: The head as a function of the latents.
        fall: Figure -> mean before / mean after, intervals from images resampled in pairs.
        rebuild_error: Share of the tokens' variance between images that is not rebuilt.
        task_error: The same of the head's output, rebuilt tokens against original ones.
        truth: Figure -> against the truth, from original and from rebuilt tokens; empty without truths.
    """

    images: int
    before: StageFigures
    after: StageFigures
    latent: StageFigures
    fall: Mapping[str, Interval | None]
    rebuild_error: Summary
    task_error: Summary
    truth: Mapping[str, tuple[Summary, Summary]]

    def to_json(self) -> dict[str, Any]:
        """Return everything as plain JSON."""
        return {
            "images": self.images,
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "latent": self.latent.to_json(),
            "fall": {name: None if each is None else each.to_json() for name, each in self.fall.items()},
            "rebuild_error": self.rebuild_error.to_json(),
            "task_error": self.task_error.to_json(),
            "truth": {
                name: {"original": original.to_json(), "rebuilt": rebuilt.to_json()}
                for name, (original, rebuilt) in self.truth.items()
            },
        }


def before_after(
    through: ThroughBottleneck,
    images: Iterable[Float[Tensor, "3 h w"]],
    *,
    truths: Sequence[Tensor | None] | None = None,
    truth_figures: TruthFigures | None = None,
    metric: str = EUCLIDEAN,
    rank: int = 20,
    recipe: str = "auto",
    budget: int = 400,
    num_resamples: int = 1000,
    generator: Generator,
) -> BeforeAfter:
    """Diagnose a head on images before and after its bottleneck, and as a function of the latents.

    A fall is worth as much as the rebuild and the task error beside it: a bottleneck that forgets everything has rank 0.
    Images should be ones that nothing was trained or chosen on. Cost per image: three diagnoses of ``budget`` products.

    Args:
        through: The head behind its bottleneck.
        images: Preprocessed pixels; read once, one at a time.
        truths: What the head should say about each image, None where unknown.
        truth_figures: How an output is held against a truth; needed with truths.
        metric: Of the output, a key of ``OUTPUT_METRICS``.
        rank: Directions per diagnosis.
        recipe: Of the diagnosis.
        budget: Single products of each of the three diagnoses of an image.
        num_resamples: Of the bootstrap over images.
        generator: The only source of randomness.

    Raises:
        InvalidInput: No images, one that cannot be used (it is named), truths that do not fit, or a bad setting.
        UnknownName: There is no such recipe or metric.
        NumericalFailure: A product is not finite.
    """
    check_generator(generator)
    if (truths is None) != (truth_figures is None):
        raise InvalidInput("truths and truth_figures go together: give both or neither.")
    settings: dict[str, Any] = {"metric": metric, "rank": rank, "recipe": recipe, "budget": budget}
    settings |= {"truth_figures": truth_figures, "generator": generator}
    found = []
    for number, image in enumerate(images):
        truth = _truth_of(truths, number)
        try:
            found.append(compare_image(through, image, truth=truth, **settings))
        except UnknownName:  # a setting, not the image
            raise
        except InvalidInput as error:
            raise InvalidInput(f"image {number} cannot be used: {error}") from error
    if truths is not None and len(truths) != len(found):
        raise InvalidInput(f"truths must be one per image, got {len(truths)} for {len(found)} images.")
    return _summarised(found, num_resamples=num_resamples, generator=generator)


def _truth_of(truths: Sequence[Tensor | None] | None, number: int) -> Tensor | None:
    return truths[number] if truths is not None and number < len(truths) else None


def _summarised(found: Sequence[ComparedImage], *, num_resamples: int, generator: Generator) -> BeforeAfter:
    if not found:
        raise InvalidInput("images must hold at least one picture, got none.")
    bootstrap: dict[str, Any] = {"num_resamples": num_resamples, "generator": generator}

    def over_images(values: Sequence[float]) -> Summary:
        summarised = summary(values, **bootstrap)
        assert summarised is not None  # these are defined for every image
        return summarised

    before, after, latent = (
        StageFigures(
            aggregate([each.stages[stage] for each in found], **bootstrap),
            Counter(each.statuses[stage] for each in found),
        )
        for stage in range(3)
    )
    known = [each.truth for each in found if each.truth]
    return BeforeAfter(
        images=len(found),
        before=before,
        after=after,
        latent=latent,
        fall={
            name: fall(*(_column(found, stage, name) for stage in (0, 1)), **bootstrap) for name in FALLING
        },
        rebuild_error=over_images([each.rebuild_error for each in found]),
        task_error=over_images([each.task_error for each in found]),
        truth={
            name: (
                over_images([each[name][0] for each in known]),
                over_images([each[name][1] for each in known]),
            )
            for name in (known[0] if known else ())
        },
    )


def _column(found: Sequence[ComparedImage], stage: int, name: str) -> Tensor:
    values = [each.stages[stage].figures[name] for each in found]
    return torch.tensor([float("nan") if value is None else value for value in values], dtype=torch.float64)
