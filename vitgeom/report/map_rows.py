"""Rows of token maps over pictures, written as SVG by hand: PNGs inside, one rectangle per patch, words for prefix tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vitgeom.report import palette
from vitgeom.report.drawing import Drawing
from vitgeom.report.markup import Markup, element, join
from vitgeom.report.numbers import percent
from vitgeom.report.pictured_tokens import PicturedTokens, TokenMap

WIDTH = 360
GAP = 12
LINE = 17
DARKEST = 0.85
"""Opacity of the most important patch: the picture still shines through."""
FAINT = 0.45
"""Opacity of a picture below its map."""
SCALE = (0.0, 0.25, 0.5, 0.75, 1.0)


@dataclass(frozen=True)
class MapRow:
    """One importance of every token, over the pictures of a drawing in their order."""

    words: str
    maps: tuple[TokenMap, ...]


def draw_map_rows(pair: PicturedTokens, rows: Sequence[MapRow], *, name: str, title: str) -> Drawing:
    """Draw the pictures in a row, and below them every row of maps over them.

    Colour is importance relative to the largest of the patches of that picture and row. Below each map stands the share of squared importance that
    lies on prefix tokens.

    Args:
        pair: Has layout and pictures.
        rows: At least one; all have maps of the same images.
        name: Key of the drawing.
        title: What it shows, one line.
    """
    samples = [shown.sample for shown in rows[0].maps]
    side_by_side = max(3, len(samples))
    tile = (WIDTH - GAP * (side_by_side - 1)) / side_by_side
    high = tile * pair.grid[0] / pair.grid[1]
    parts: list[Markup] = [_definitions(pair, samples, name, tile, high)]
    y = 0.0
    for column in range(len(samples)):
        parts.append(_picture(name, column, column * (tile + GAP), y, opacity=None))
    y += high + GAP / 2
    for row in rows:
        parts.append(_text(0.0, y + LINE - 4, row.words))
        y += LINE + 2
        for column, shown in enumerate(row.maps):
            left = column * (tile + GAP)
            parts += [
                _picture(name, column, left, y, opacity=FAINT),
                _heat(pair, shown, left, y, tile, high),
                *(
                    _text(left, y + high + LINE * (line + 1) - 3, words)
                    for line, words in enumerate(_prefix_words(pair, shown))
                ),
            ]
        y += high + LINE * len(pair.prefix) + GAP
    parts.append(_scale(y))
    y += LINE
    return Drawing(
        name=name,
        title=title,
        description=_words(pair, rows),
        body=str(join(parts)),
        view_box=f"-1 -1 {WIDTH + 2} {_number(y)}",
    )


def prefix_shares(pair: PicturedTokens, shown: TokenMap) -> list[tuple[str, float | None]]:
    """Return the share of squared importance on each kind of prefix token; None where all importance is zero.

    Args:
        pair: Says which tokens these are.
        shown: Importance of one image.
    """
    squares = [value**2 for value in shown.importance]
    total, start, shares = sum(squares), 0, []
    for kind, count in pair.prefix:
        part = sum(squares[start : start + count])
        shares.append((kind, part / total if total > 0 else None))
        start += count
    return shares


def _definitions(pair: PicturedTokens, samples: Sequence[str], name: str, tile: float, high: float) -> Markup:
    """Embed every picture once; it is shown by reference."""
    pictures = (
        element(
            "image",
            id=f"{name}-picture-{column}",
            href=f"data:image/png;base64,{pair.pictures[sample]}",
            width=_number(tile),
            height=_number(high),
            preserveAspectRatio="none",
        )
        for column, sample in enumerate(samples)
    )
    return element("defs", *pictures)


def _picture(name: str, column: int, left: float, top: float, *, opacity: float | None) -> Markup:
    return element(
        "use",
        href=f"#{name}-picture-{column}",
        x=_number(left),
        y=_number(top),
        opacity=None if opacity is None else str(opacity),
    )


def _heat(pair: PicturedTokens, shown: TokenMap, left: float, top: float, tile: float, high: float) -> Markup:
    """Cover a picture with one rectangle per patch, as dense as the patch is important."""
    patches = shown.importance[pair.num_prefix :]
    rows, columns = pair.grid
    largest = max(patches, default=0.0)
    wide, tall = tile / columns, high / rows
    cells = [
        element(
            "rect",
            x=_number(left + wide * (place % columns)),
            y=_number(top + tall * (place // columns)),
            width=_number(wide),
            height=_number(tall),
            fill_opacity=f"{DARKEST * value / largest:.2f}",
        )
        for place, value in enumerate(patches)
        if largest > 0 and value > 0.005 * largest
    ]
    frame = element(
        "rect", x=_number(left), y=_number(top), width=_number(tile), height=_number(high),
        style=f"fill:none;stroke:var({palette.RULE.variable})",
    )  # fmt: skip
    return element("g", element("g", *cells, style=f"fill:var({palette.PERMUTATION.variable})"), frame)


def _scale(top: float) -> Markup:
    """Draw the key: five squares from nothing to the most important patch."""
    squares = [
        element(
            "rect",
            x=24 * place,
            y=_number(top),
            width=24,
            height=12,
            fill_opacity=f"{DARKEST * value:.2f}",
            style=f"fill:var({palette.PERMUTATION.variable});stroke:var({palette.RULE.variable})",
        )
        for place, value in enumerate(SCALE)
    ]
    words = _text(24.0 * len(SCALE) + 8, top + 11, "0 to the largest patch")
    return element("g", *squares, words)


def _text(x: float, y: float, words: str) -> Markup:
    return element(
        "text", words, x=_number(x), y=_number(y), style=f"font-size:12px;fill:var({palette.INK.variable})"
    )


def _prefix_words(pair: PicturedTokens, shown: TokenMap) -> list[str]:
    return [f"{kind}: {percent(share)}" for kind, share in prefix_shares(pair, shown)]


def _words(pair: PicturedTokens, rows: Sequence[MapRow]) -> str:
    told = []
    for row in rows:
        for shown in row.maps:
            patches = shown.importance[pair.num_prefix :]
            best = max(range(len(patches)), key=patches.__getitem__, default=0)
            line, column = divmod(best, pair.grid[1])
            rest = "".join(f", {words}" for words in _prefix_words(pair, shown))
            told.append(
                f"{row.words}, {shown.sample}: most in row {line + 1} of {pair.grid[0]}, column {column + 1} of {pair.grid[1]}{rest}"
            )
    return f"Importance of each patch, relative to the largest, over the pictures; share of prefix tokens in squared importance. {'; '.join(told)}."


def _number(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")
