"""What models learnt of one decoder at one layer: checked, frozen, as the report needs it.

rho = Spearman's rank correlation over the patches of an image, R = directions, M = outputs, N = tokens, D = width.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.report.averaged import Averaged, averaged_problems, parse_averaged
from vitgeom.report.learnt_alignment import Alignment, alignment_problems, parse_alignment
from vitgeom.report.learnt_bottleneck import Bottleneck, bottleneck_problems, parse_bottleneck
from vitgeom.report.learnt_ranks import RankSweep, parse_ranks, rank_problems
from vitgeom.report.named_decoder import NamedDecoder
from vitgeom.report.pictured_tokens import TokenMap
from vitgeom.report.trained_model import Choice, TrainedModel, model_problems, parse_choice, parse_model

RANKED, UNTRUNCATED = "importance", "block_norms"
TARGETS = (RANKED, UNTRUNCATED)
"""Importance from the R directions stored, and without truncation."""
HEAD, NETWORK, BOTTLENECK = "importance", "spn", "bottleneck"
LEARNERS = {
    HEAD: "importance head",
    NETWORK: "Spectral Pullback Network",
    BOTTLENECK: "bottleneck",
}
"""What can be trained -> what a reader calls it."""
EXACT, CONSTANT, RANDOM = "exact block norms", "one map for all images", "random"
TARGETS_MADE = "exact"
"""Whose time is that of an exact target, not of a model."""


@dataclass(frozen=True)
class ExactAndLearnt:
    """Importance of every token of one image: exact, and by model as the first of its seeds says."""

    exact: TokenMap
    learnt: Mapping[str, TokenMap]


@dataclass(frozen=True)
class LearntDecoder(NamedDecoder):
    """One decoder at one layer, and what models learnt of it.

    Attributes:
        outputs: M.
        columns: N D.
        rank: R of the targets.
        recipe: How exact targets were made.
        products: That an exact target took per image.
        images: By split.
        choice: What was trained, and why.
        ceiling: rho of a second, independent estimate, by target.
        truncation: rho between the two targets.
        scores: rho by score and target.
        leads: By how much the rho of a model lies above that of another score, image by image: by model, score and target.
        alignment: None where no network was trained.
        models: By learner.
        ranks: None where no ranks were tried.
        bottleneck: None where there is none.
        maps: Of the first test images.
        seconds: That one answer takes per image, by model, once the tokens are there; under ``TARGETS_MADE`` that of an exact target. Empty where nobody knows.
    """

    outputs: int
    columns: int
    rank: int
    recipe: str
    products: float
    images: Mapping[str, int]
    choice: Choice
    ceiling: Mapping[str, Averaged | None]
    truncation: Averaged | None
    scores: Mapping[str, Mapping[str, Averaged | None]]
    leads: Mapping[str, Mapping[str, Mapping[str, Averaged | None]]]
    alignment: Alignment | None
    models: Mapping[str, TrainedModel]
    ranks: RankSweep | None
    bottleneck: Bottleneck | None
    maps: tuple[ExactAndLearnt, ...]
    seconds: Mapping[str, float]

    @property
    def learners(self) -> tuple[str, ...]:
        """Models whose importance was compared, in a fixed order."""
        known = (*LEARNERS, *(name for name in self.models if name not in LEARNERS))
        return tuple(name for name in known if name in self.scores)

    @property
    def plain(self) -> tuple[str, ...]:
        """Scores that nobody has to learn and that need no derivative, without the random one."""
        others = (*self.learners, EXACT, RANDOM)
        return tuple(name for name in self.scores if name not in others)

    def rho(self, score: str, target: str = RANKED) -> Averaged | None:
        """Return rho of a score with a target; None where it is undefined or there is no such score.

        Args:
            score: Its name.
            target: Which target.
        """
        return self.scores.get(score, {}).get(target)

    def lead(self, model: str, other: str, target: str = RANKED) -> Averaged | None:
        """Return by how much the rho of a model lies above that of another score on the same images; None where it is undefined.

        Args:
            model: A learner.
            other: Another score.
            target: Which target.
        """
        return self.leads.get(model, {}).get(other, {}).get(target)


def title_of(score: str) -> str:
    """Return what a reader calls a score.

    Args:
        score: Its name.
    """
    return LEARNERS.get(score, score.replace("_", " "))


def parse_learnt_decoder(
    content: Mapping[str, Any], *, seconds: Mapping[str, Mapping[str, float]] | None = None
) -> LearntDecoder:
    """Read one entry of ``pairs`` in a file of learnt metrics; the keys ``ranks`` and ``bottleneck`` may be missing.

    Args:
        content: The entry.
        seconds: Measured times per image, by the decoder's key, then by model.

    Raises:
        KeyError: A part is missing; likewise TypeError, ValueError and IndexError for parts of another shape.
    """
    importance = content["importance"]
    named = NamedDecoder(
        name=str(content["decoder"]["name"]),
        layer=int(content["decoder"]["layer"]),
        metric=str(content["decoder"]["metric"]),
    )
    return LearntDecoder(
        **vars(named),
        outputs=int(content["shape"][0]),
        columns=int(content["shape"][1]),
        rank=int(content["rank"]),
        recipe=str(content["recipe"]),
        products=float(content["products_per_image"]),
        images={str(split): int(count) for split, count in content["images"].items()},
        choice=parse_choice(content["choice"]),
        ceiling=_by_target(importance["ceiling"]),
        truncation=parse_averaged(importance["truncation"]),
        scores={str(name): _by_target(found) for name, found in importance["scores"].items()},
        leads={
            str(model): {str(name): _by_target(found) for name, found in others.items()}
            for model, others in importance["leads"].items()
        },
        alignment=parse_alignment(content["alignment"]),
        models={str(name): parse_model(found) for name, found in content["models"].items()},
        ranks=parse_ranks(content.get("ranks")),
        bottleneck=parse_bottleneck(content.get("bottleneck")),
        maps=tuple(_map(found) for found in content["maps"]),
        seconds=dict((seconds or {}).get(named.key, {})),
    )


def learnt_problems(one: LearntDecoder) -> Iterator[str]:
    """Yield what cannot be in the figures of one decoder; maps are left to whoever knows the tokens.

    Args:
        one: The decoder.
    """
    rhos = {
        **{f"the ceiling of {target}": found for target, found in one.ceiling.items()},
        "the rank correlation of truncation": one.truncation,
        **{
            f"the rank correlation of {score} with {target}": found
            for score, by_target in one.scores.items()
            for target, found in by_target.items()
        },
    }
    for what, found in rhos.items():
        yield from averaged_problems(what, found, least=-1.0, most=1.0)
    for learner, others in one.leads.items():
        for other, by_target in others.items():
            for lead in by_target.values():
                yield from averaged_problems(
                    f"the lead of {learner} over {other}", lead, least=-2.0, most=2.0
                )
    yield from alignment_problems(one.alignment)
    for name, model in one.models.items():
        yield from model_problems(name, model)
    yield from rank_problems(one.ranks)
    yield from bottleneck_problems(one.bottleneck)


def _by_target(found: Mapping[str, Any]) -> dict[str, Averaged | None]:
    return {target: parse_averaged(found[target]) for target in TARGETS}


def _map(found: Mapping[str, Any]) -> ExactAndLearnt:
    sample = str(found["sample"])

    def shown(values: Any) -> TokenMap:
        return TokenMap(sample, tuple(float(value) for value in values))

    return ExactAndLearnt(
        shown(found["exact"]), {str(name): shown(values) for name, values in found["learnt"].items()}
    )
