from __future__ import annotations

from typing import Any

import pytest

from tests.support.directed_results import GRID, TOKENS
from tests.support.learnt_results import learnt_pair, planted_metric
from vitgeom.errors import InvalidInput
from vitgeom.report.learnt_pair import parse_learnt_pair


def parsed(content: dict[str, Any]) -> None:
    parse_learnt_pair(dataset="digits", backbone="nano", content=content)


def test_tokens_and_decoders_are_those_of_the_file() -> None:
    pair = learnt_pair()
    assert pair.label == "digits × nano_supervised"
    assert (pair.num_prefix, pair.num_tokens, pair.grid) == (3, TOKENS, GRID)
    assert [one.key for one in pair.decoders] == ["cls-layer4", "scenes_depth-layer8", "patch_mean-layer8"]


@pytest.mark.parametrize("missing", ["tokens", "pairs", "pictures"])
def test_a_missing_part_is_named(missing: str) -> None:
    content = planted_metric()
    del content[missing]
    with pytest.raises(InvalidInput, match=rf"digits × nano lack .*'{missing}'.*stage metric again"):
        parsed(content)


@pytest.mark.parametrize(
    "missing",
    ["decoder", "choice", "images", "rank", "shape", "recipe", "products_per_image", "importance", "alignment", "models", "maps"],
)  # fmt: skip
def test_a_missing_part_of_a_decoder_is_named(missing: str) -> None:
    content = planted_metric()
    del content["pairs"][1][missing]
    with pytest.raises(InvalidInput, match=rf"another version\? Run|'{missing}'"):
        parsed(content)


@pytest.mark.parametrize("wrong", [None, [], "text", 3])
def test_parts_of_another_shape_are_refused_with_the_way_out(wrong: Any) -> None:
    content = planted_metric()
    content["pairs"][0]["importance"] = wrong
    with pytest.raises(InvalidInput, match=r"another version\? Run the stage metric again"):
        parsed(content)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: c.update(pairs=[]), "they are of no decoder"),
        (lambda c: c["pairs"].append(c["pairs"][0]), "a decoder and layer comes twice"),
        (lambda c: c["pairs"][0]["choice"].update(regime="odd"), r"there is no regime odd \(there are structural"),
        (lambda c: c["pairs"][0]["choice"]["counts"].update(odd=1), "no regime odd .* class token from layer 4"),
        (
            lambda c: c["pairs"][0]["importance"]["truncation"]["mean"].update(value=float("nan")),
            "truncation must be a finite number .* for the class token from layer 4",
        ),
        (
            lambda c: c["pairs"][0]["maps"][0]["exact"].pop(),
            rf"importance of digit-0 must be {TOKENS} numbers >= 0, got {TOKENS - 1}",
        ),
        (lambda c: c["pairs"][0]["maps"][1]["learnt"]["importance"].__setitem__(0, -1), "importance of digit-1"),
        (lambda c: c["pairs"][0]["maps"][1].update(learnt={}), "maps of digit-1 are of other models than those of digit-0"),
        (lambda c: c["pictures"].pop("digit-0"), "picture of digit-0 is missing"),
        (lambda c: c["pictures"].update({"digit-0": '"><script>'}), "picture of digit-0 is no PNG"),
    ],
)  # fmt: skip
def test_damage_is_told_with_its_place(change: Any, words: str) -> None:
    content = planted_metric()
    change(content)
    with pytest.raises(InvalidInput, match=rf"{words}.*Run the stage metric again"):
        parsed(content)
