"""Where the tokens of one dataset × backbone lie, and pictures of what the backbone sees: what a map of tokens is drawn on."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

PNG = b"\x89PNG\r\n\x1a\n"


@dataclass(frozen=True)
class PicturedTokens:
    """One dataset × backbone with the layout of its tokens.

    Attributes:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        prefix: What stands before the patches, as (name, tokens): class token, distillation token, registers.
        grid: Rows and columns of patches.
        pictures: Sample id -> PNG of what the backbone sees, in base64.
    """

    dataset: str
    backbone: str
    prefix: tuple[tuple[str, int], ...]
    grid: tuple[int, int]
    pictures: Mapping[str, str]

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


@dataclass(frozen=True)
class TokenMap:
    """Importance of every token of one image, prefix tokens first."""

    sample: str
    importance: tuple[float, ...]


def parse_tokens(dataset: str, backbone: str, content: Mapping[str, Any]) -> PicturedTokens:
    """Read layout and pictures from a result file.

    Args:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        content: Of the file; its keys ``tokens`` and ``pictures`` are read.

    Raises:
        KeyError: A part is missing; likewise TypeError and ValueError for parts of another shape.
    """
    tokens = content["tokens"]
    counts = (
        ("CLS", int(tokens["num_cls"])),
        ("distillation", int(tokens["num_distill"])),
        ("registers", int(tokens["num_registers"])),
    )
    rows, columns = tokens["grid"]
    return PicturedTokens(
        dataset=dataset,
        backbone=backbone,
        prefix=tuple((name, count) for name, count in counts if count),
        grid=(int(rows), int(columns)),
        pictures={str(sample): str(data) for sample, data in content["pictures"].items()},
    )


def picture_problems(pair: PicturedTokens) -> Iterator[str]:
    """Yield which pictures are none.

    Args:
        pair: Has the pictures.
    """
    for sample, data in pair.pictures.items():
        if not _is_png(data):
            yield f"the picture of {sample} is no PNG"


def map_problems(pair: PicturedTokens, shown: TokenMap) -> Iterator[str]:
    """Yield what keeps a map from being drawn.

    Args:
        pair: Says how many tokens there are, and has the picture.
        shown: The map.
    """
    if len(shown.importance) != pair.num_tokens or not all(
        0 <= value < float("inf") for value in shown.importance
    ):
        yield f"importance of {shown.sample} must be {pair.num_tokens} numbers >= 0, got {len(shown.importance)}"
    if shown.sample not in pair.pictures:
        yield f"the picture of {shown.sample} is missing"


def _is_png(data: str) -> bool:
    try:
        return base64.b64decode(data, validate=True).startswith(PNG)
    except (binascii.Error, ValueError):
        return False
