from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.directed_results import picture
from vitgeom.report.pictured_tokens import (
    PicturedTokens,
    TokenMap,
    map_problems,
    parse_tokens,
    picture_problems,
)


def content(**pictures: str) -> dict[str, Any]:
    tokens = {"num_cls": 1, "num_distill": 0, "num_registers": 4, "grid": [2, 3]}
    return {"tokens": tokens, "pictures": pictures}


def parsed(**pictures: str) -> PicturedTokens:
    return parse_tokens("digits", "nano", content(**pictures))


def test_tokens_that_are_not_there_are_not_named() -> None:
    pair = parsed()
    assert pair.label == "digits × nano"
    assert pair.prefix == (("CLS", 1), ("registers", 4))
    assert (pair.num_prefix, pair.num_tokens, pair.grid) == (5, 11, (2, 3))


def test_a_missing_layout_is_an_error_of_its_key() -> None:
    with pytest.raises(KeyError, match="grid"):
        parse_tokens(
            "d", "b", {"tokens": {"num_cls": 1, "num_distill": 0, "num_registers": 0}, "pictures": {}}
        )


def test_only_a_png_is_a_picture() -> None:
    gif = base64.b64encode(b"GIF89a").decode()
    assert list(picture_problems(parsed(a=picture(1), b=gif, c='"><script>'))) == [
        "the picture of b is no PNG",
        "the picture of c is no PNG",
    ]


def test_a_map_has_a_picture_and_one_number_per_token() -> None:
    pair = parsed(a=picture(1))
    assert list(map_problems(pair, TokenMap("a", (0.5,) * 11))) == []
    assert list(map_problems(pair, TokenMap("b", (0.5,) * 11))) == ["the picture of b is missing"]
    for wrong in ((0.5,) * 10, (-1.0,) * 11, (float("nan"),) * 11):
        [said] = map_problems(pair, TokenMap("a", wrong))
        assert said.startswith("importance of a must be 11 numbers >= 0")
