from __future__ import annotations

from copy import deepcopy
from typing import Any

import pytest

from tests.support.directed_results import OUTPUTS, TOKENS, WIDTH, planted_directions
from vitgeom.report.directed_decoder import DecoderDirections, parse_decoder


def entry(**planted: Any) -> dict[str, Any]:
    return planted_directions(decoders=(("cls", 4),), **planted)["pairs"][0]


def parsed(content: dict[str, Any]) -> DecoderDirections:
    return parse_decoder(content, num_tokens=TOKENS)


def test_names_for_readers_and_for_machines() -> None:
    one = parsed(entry())
    assert (one.title, one.label, one.key) == ("class token", "class token from layer 4", "cls-layer4")
    own = parsed({**entry(), "decoder": {"name": "my_head", "layer": 0, "metric": "euclidean"}})
    assert own.label == "my head from layer 0"


def test_chance_is_that_of_a_flat_spectrum_and_of_random_directions() -> None:
    one = parsed(entry())
    assert one.found == 3
    assert one.flat == 3 / OUTPUTS
    assert one.scatter == pytest.approx((2 / (WIDTH * 3)) ** 0.5)
    assert parsed(entry(outputs=2)).found == 2


def test_figures_curves_and_spectra_are_those_of_the_file() -> None:
    content = entry()
    one = parsed(content)
    kappa = one.value("kappa")
    assert kappa is not None
    assert kappa.value == content["figures"]["figures"]["kappa"]["mean"]["value"]
    assert [list(curve) for curve in one.curves] == content["kappa_caps"]
    assert [list(sigma) for sigma in one.spectra] == content["singular_values"]
    assert one.images == 3
    assert one.products == content["figures"]["products"]["total"]


def test_singular_values_that_are_not_there_are_left_out() -> None:
    content = entry()
    content["singular_values"][0] = [2.0, 0.0, 0.0]
    assert parsed(content).spectra[0] == (2.0,)


def test_a_silent_decoder_has_no_figures() -> None:
    one = parsed(entry(silent=("cls",)))
    assert one.value("kappa") is None
    assert one.curves == ()
    assert one.rank_90 is None
    assert one.regime == "undefined"
    assert one.close == 0


def test_ranks_over_images_are_as_uncertain_as_the_worst_of_them() -> None:
    content = entry()
    spans = [("exact", 4, 4), ("interval", 3, 6), ("exact", 5, 5)]
    for image, (status, low, high) in zip(content["images"], spans, strict=True):
        image["effective_ranks"]["r_90"] = {"status": status, "low": low, "high": high, "value": 4.0}
    found = parsed(content).rank_90
    assert found is not None
    assert (found.status, found.low, found.high) == ("interval", 3, 6)
    content["images"][0]["effective_ranks"]["r_90"]["status"] = "bound"
    assert parsed(content).rank_90.status == "bound"  # type: ignore[union-attr]


@pytest.mark.parametrize(
    ("name", "kappa", "variation", "close"),
    [
        ("token_local", 0.01, 0.4, 0),
        ("token_local", 0.3, 0.04, 1),
        ("high_rank", -0.04, -0.4, 1),
        ("low_rank_delocalised", 0.1, -0.01, 1),
        ("low_rank_delocalised", 0.1, -0.2, 0),
        ("structural", 0.0, 0.0, 0),
        ("low_rank_delocalised", 0.1, None, 0),
    ],
)
def test_only_borders_of_the_regime_make_a_verdict_doubtful(
    name: str, kappa: float, variation: float | None, close: int
) -> None:
    content = entry(images=1)
    content["images"][0]["regime"].update(name=name, kappa_margin=kappa, variation_margin=variation)
    assert parsed(content).close == close


def test_the_image_on_which_least_is_left_of_a_bound_is_told() -> None:
    content = entry()
    for place, (measured, holds) in enumerate([(0.3, True), (0.9, False), (0.5, True)]):
        checks = content["images"][place]["theorems"]
        [share] = [check for check in checks if check["check"] == "captured_share"]
        share.update(measured=measured, bound=0.6, slack=0.0, holds=holds)
    before = deepcopy(content)
    first = parsed(content).bounds[0]
    assert (first.theorem, first.sample, first.measured, first.violated, first.images) == (
        1,
        "digit-1",
        0.9,
        1,
        3,
    )
    assert content == before
    assert [bound.theorem for bound in parsed(content).bounds] == [1, 2, 2, 4]
