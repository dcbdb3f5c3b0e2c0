"""What models learnt of the decoders of one dataset × backbone: checked and frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from vitgeom.errors import InvalidInput
from vitgeom.report.directions_verdict import REGIMES
from vitgeom.report.learnt_decoder import LearntDecoder, learnt_problems, parse_learnt_decoder
from vitgeom.report.pictured_tokens import PicturedTokens, map_problems, parse_tokens, picture_problems


@dataclass(frozen=True)
class LearntPair(PicturedTokens):
    """All decoders and layers of one dataset × backbone of which something was to be learnt, in the order in which they were asked for."""

    decoders: tuple[LearntDecoder, ...]


def parse_learnt_pair(
    *,
    dataset: str,
    backbone: str,
    content: Mapping[str, Any],
    seconds: Mapping[str, Mapping[str, float]] | None = None,
) -> LearntPair:
    """Read what models learnt of the decoders of one pair.

    Args:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        content: Of its file of learnt metrics.
        seconds: Measured times per image, by decoder and layer, then by model; no result file holds them.

    Raises:
        InvalidInput: A part is missing, a number cannot be, or a picture is none.
    """
    where = f"{dataset} × {backbone}"
    try:
        tokens = parse_tokens(dataset, backbone, content)
        pair = LearntPair(
            **vars(tokens),
            decoders=tuple(parse_learnt_decoder(each, seconds=seconds) for each in content["pairs"]),
        )
    except (KeyError, TypeError, IndexError, ValueError, AttributeError) as error:
        raise InvalidInput(
            f"the learnt metrics of {where} lack what the report needs ({type(error).__name__}: {error}); were they written by another "
            "version? Run the stage metric again."
        ) from error
    problem = next(_problems(pair), None)
    if problem is not None:
        raise InvalidInput(
            f"the learnt metrics of {where} are damaged: {problem}. Run the stage metric again."
        )
    return pair


def _problems(pair: LearntPair) -> Iterator[str]:
    """Yield what is wrong with a pair that has all its parts."""
    if not pair.decoders:
        yield "they are of no decoder"
    keys = [one.key for one in pair.decoders]
    if len(set(keys)) < len(keys):
        yield "a decoder and layer comes twice"
    for one in pair.decoders:
        yield from (f"{problem} for the {one.label}" for problem in _decoder_problems(one, pair))
    yield from picture_problems(pair)


def _decoder_problems(one: LearntDecoder, pair: LearntPair) -> Iterator[str]:
    if one.choice.regime not in REGIMES or any(name not in REGIMES for name in one.choice.counts):
        names = sorted({one.choice.regime, *one.choice.counts} - set(REGIMES))
        yield f"there is no regime {', '.join(names)} (there are {', '.join(REGIMES)})"
    yield from learnt_problems(one)
    for shown in one.maps:
        for each in (shown.exact, *shown.learnt.values()):
            yield from map_problems(pair, each)
        if set(shown.learnt) != set(one.maps[0].learnt):
            yield f"the maps of {shown.exact.sample} are of other models than those of {one.maps[0].exact.sample}"
