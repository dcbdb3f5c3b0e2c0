"""To which directions and tokens the decoders of one dataset × backbone react: checked and frozen."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.report.directed_decoder import DecoderDirections, parse_decoder
from vitgeom.report.pictured_tokens import PicturedTokens, map_problems, parse_tokens, picture_problems

ROUNDING = 1e-6


@dataclass(frozen=True)
class MetricAgreement:
    """One decoder at one layer under an output metric and under the plain one: how far both rank the tokens alike.

    Attributes:
        key: Of the decoder under the metric.
        plain: Of the decoder under the plain one.
        rank: Mean of Spearman's rho of importance over images with its 95 % interval; None where no image has one.
        images: How many have one.
    """

    key: str
    plain: str
    rank: Interval | None
    images: int


@dataclass(frozen=True)
class DirectedPair(PicturedTokens):
    """All decoders and layers of one dataset × backbone.

    Attributes:
        decoders: In the order in which they were asked for.
        agreements: Decoders under another output metric beside the plain one.
    """

    decoders: tuple[DecoderDirections, ...]
    agreements: tuple[MetricAgreement, ...] = ()

    def by_decoder(self) -> dict[str, tuple[DecoderDirections, ...]]:
        """Return the layers of each decoder, first to last."""
        names = dict.fromkeys(one.variant for one in self.decoders)
        return {
            name: tuple(
                sorted((one for one in self.decoders if one.variant == name), key=lambda one: one.layer)
            )
            for name in names
        }

    @property
    def violations(self) -> list[str]:
        """What theory forbids and was measured all the same; a defect of the program."""
        return [
            f"theorem {bound.theorem} ({bound.check.replace('_', ' ')}), {one.label}, {bound.violated} of {bound.images} images"
            for one in self.decoders
            for bound in one.bounds
            if bound.violated
        ]


def parse_directed_pair(*, dataset: str, backbone: str, content: Mapping[str, Any]) -> DirectedPair:
    """Read what the decoders of one pair react to.

    Args:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        content: Of its file of directions.

    Raises:
        InvalidInput: A part is missing, a number cannot be, or a picture is none.
    """
    where = f"{dataset} × {backbone}"
    try:
        pair = _pair(dataset, backbone, content)
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise InvalidInput(
            f"the directions of {where} lack what the report needs ({type(error).__name__}: {error}); were they written by another "
            "version? Run the stage diagnose again."
        ) from error
    problem = next(_problems(pair), None)
    if problem is not None:
        raise InvalidInput(f"the directions of {where} are damaged: {problem}. Run the stage diagnose again.")
    return pair


def _pair(dataset: str, backbone: str, content: Mapping[str, Any]) -> DirectedPair:
    tokens = parse_tokens(dataset, backbone, content)
    return DirectedPair(
        **vars(tokens),
        decoders=tuple(parse_decoder(entry, num_tokens=tokens.num_tokens) for entry in content["pairs"]),
        agreements=tuple(_agreement(entry) for entry in content["metrics"]),
    )


def _agreement(entry: Mapping[str, Any]) -> MetricAgreement:
    name, layer, rank = str(entry["decoder"]), int(entry["layer"]), entry["rank_agreement"]["importance"]
    return MetricAgreement(
        f"{name}-{entry['metric']}-layer{layer}",
        f"{name}-layer{layer}",
        None if rank is None else Interval.from_json(rank["mean"]),
        0 if rank is None else int(rank["images"]),
    )


def _problems(pair: DirectedPair) -> Iterator[str]:
    """Yield what is wrong with a pair that has all its parts."""
    if not pair.decoders:
        yield "they are of no decoder"
    for one in pair.decoders:
        yield from (f"{problem} for the {one.label}" for problem in _decoder_problems(one, pair))
    keys = {one.key for one in pair.decoders}
    for found in pair.agreements:
        yield from (
            f"they compare {key}, which is not among them"
            for key in (found.key, found.plain)
            if key not in keys
        )
    yield from picture_problems(pair)


def _decoder_problems(one: DecoderDirections, pair: DirectedPair) -> Iterator[str]:
    for name, found in one.figures.items():
        if found is not None and not (found.mean.low <= found.mean.high and math.isfinite(found.mean.value)):
            yield f"{name} must be a finite number with an interval from low to high, got {found.mean}"
    if any(not 0 <= share <= 1 + ROUNDING for curve in one.curves for share in curve):
        yield "a captured share lies outside 0 to 1"
    for shown in one.maps:
        yield from map_problems(pair, shown)
