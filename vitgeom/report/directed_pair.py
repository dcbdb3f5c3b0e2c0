"""To which directions and tokens the decoders of one dataset × backbone react: checked and frozen."""

from __future__ import annotations

import base64
import binascii
import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.report.directed_decoder import DecoderDirections, parse_decoder

PNG = b"\x89PNG\r\n\x1a\n"
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
class DirectedPair:
    """All decoders and layers of one dataset × backbone.

    Attributes:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        prefix: What stands before the patches, as (name, tokens): class token, distillation token, registers.
        grid: Rows and columns of patches.
        decoders: In the order in which they were asked for.
        pictures: Sample id -> PNG of what the backbone sees, in base64.
        agreements: Decoders under another output metric beside the plain one.
    """

    dataset: str
    backbone: str
    prefix: tuple[tuple[str, int], ...]
    grid: tuple[int, int]
    decoders: tuple[DecoderDirections, ...]
    pictures: Mapping[str, str]
    agreements: tuple[MetricAgreement, ...] = ()

    @property
    def label(self) -> str:
        """How the pair is called on the page."""
        return f"{self.dataset} × {self.backbone}"

    @property
    def num_prefix(self) -> int:
        """Tokens before the first patch."""
        return sum(count for _, count in self.prefix)

    @property
    def num_tokens(self) -> int:
        """All tokens of an image."""
        return self.num_prefix + self.grid[0] * self.grid[1]

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
    tokens = content["tokens"]
    counts = (
        ("CLS", int(tokens["num_cls"])),
        ("distillation", int(tokens["num_distill"])),
        ("registers", int(tokens["num_registers"])),
    )
    rows, columns = tokens["grid"]
    num_tokens = sum(count for _, count in counts) + int(rows) * int(columns)
    return DirectedPair(
        dataset=dataset,
        backbone=backbone,
        prefix=tuple((name, count) for name, count in counts if count),
        grid=(int(rows), int(columns)),
        decoders=tuple(parse_decoder(entry, num_tokens=num_tokens) for entry in content["pairs"]),
        pictures={str(sample): str(data) for sample, data in content["pictures"].items()},
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
    for sample, data in pair.pictures.items():
        if not _is_png(data):
            yield f"the picture of {sample} is no PNG"


def _decoder_problems(one: DecoderDirections, pair: DirectedPair) -> Iterator[str]:
    for name, found in one.figures.items():
        if found is not None and not (found.mean.low <= found.mean.high and math.isfinite(found.mean.value)):
            yield f"{name} must be a finite number with an interval from low to high, got {found.mean}"
    if any(not 0 <= share <= 1 + ROUNDING for curve in one.curves for share in curve):
        yield "a captured share lies outside 0 to 1"
    for shown in one.maps:
        if len(shown.importance) != pair.num_tokens or not all(
            0 <= value < math.inf for value in shown.importance
        ):
            yield f"importance of {shown.sample} must be {pair.num_tokens} numbers >= 0, got {len(shown.importance)}"
        if shown.sample not in pair.pictures:
            yield f"the picture of {shown.sample} is missing"


def _is_png(data: str) -> bool:
    try:
        return base64.b64decode(data, validate=True).startswith(PNG)
    except (binascii.Error, ValueError):
        return False
