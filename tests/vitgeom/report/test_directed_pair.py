from __future__ import annotations

import base64
from typing import Any

import pytest

from tests.support.directed_results import GRID, TOKENS, directed_pair, planted_directions
from vitgeom.errors import InvalidInput
from vitgeom.report.directed_pair import parse_directed_pair


def parsed(content: dict[str, Any]) -> None:
    parse_directed_pair(dataset="digits", backbone="nano", content=content)


def test_tokens_are_named_and_counted() -> None:
    pair = directed_pair()
    assert pair.label == "digits × nano_supervised"
    assert pair.prefix == (("CLS", 1), ("registers", 2))
    assert (pair.num_prefix, pair.num_tokens, pair.grid) == (3, TOKENS, GRID)


def test_layers_of_a_decoder_stand_together_in_their_order() -> None:
    pair = directed_pair(decoders=(("cls", 8), ("patch_mean", 4), ("cls", 4)))
    assert {name: [one.layer for one in layers] for name, layers in pair.by_decoder().items()} == {
        "cls": [4, 8],
        "patch_mean": [4],
    }


def test_bounds_that_do_not_hold_are_named() -> None:
    content = planted_directions()
    assert directed_pair().violations == []
    content["pairs"][1]["images"][0]["theorems"][0]["holds"] = False
    [said] = parse_directed_pair(dataset="d", backbone="b", content=content).violations
    assert said == "theorem 2 (truncated importance), class token from layer 8, 1 of 3 images"


@pytest.mark.parametrize("missing", ["tokens", "pairs", "pictures"])
def test_a_missing_part_is_named(missing: str) -> None:
    content = planted_directions()
    del content[missing]
    with pytest.raises(InvalidInput, match=rf"digits × nano lack .*'{missing}'.*stage diagnose again"):
        parsed(content)


@pytest.mark.parametrize("missing", ["shape", "figures", "images", "kappa_caps", "maps", "density"])
def test_a_missing_part_of_a_decoder_is_named(missing: str) -> None:
    content = planted_directions()
    del content["pairs"][1][missing]
    with pytest.raises(InvalidInput, match=rf"another version\? Run|'{missing}'"):
        parsed(content)


def test_figures_of_a_version_without_named_checks_are_refused_with_the_way_out() -> None:
    content = planted_directions()
    del content["pairs"][0]["images"][0]["theorems"][0]["check"]
    with pytest.raises(InvalidInput, match=r"another version\? Run the stage diagnose again"):
        parsed(content)


def test_damage_is_told_with_its_place() -> None:
    def damaged(change: Any, words: str) -> None:
        content = planted_directions()
        change(content)
        with pytest.raises(InvalidInput, match=words):
            parsed(content)

    pairs = "pairs"
    damaged(
        lambda c: c[pairs][0]["figures"]["figures"]["kappa"]["mean"].update(value=float("nan")),
        r"kappa must be a finite number .* for the class token from layer 4",
    )
    damaged(lambda c: c[pairs][0]["kappa_caps"][0].__setitem__(0, 1.4), "captured share lies outside 0 to 1")
    damaged(
        lambda c: c[pairs][0]["maps"][0]["importance"].pop(),
        rf"must be {TOKENS} numbers >= 0, got {TOKENS - 1}",
    )
    damaged(lambda c: c["pictures"].pop("digit-0"), "picture of digit-0 is missing")
    damaged(lambda c: c["pictures"].update({"digit-0": '"><script>'}), "picture of digit-0 is no PNG")
    damaged(
        lambda c: c["pictures"].update({"digit-0": base64.b64encode(b"GIF89a").decode()}),
        "picture of digit-0 is no PNG",
    )
    damaged(lambda c: c.update(pairs=[]), "they are of no decoder")
