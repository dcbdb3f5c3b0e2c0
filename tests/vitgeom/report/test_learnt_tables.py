from __future__ import annotations

import dataclasses

from tests.support.html_checks import read_page
from tests.support.learnt_results import learnt_pair
from vitgeom.report import learnt_tables
from vitgeom.report.markup import Markup

PAIR = learnt_pair()


def words(table: Markup) -> str:
    return " ".join(" ".join(read_page(table).texts).split())


def test_every_score_has_interval_deviation_n_and_seeds_for_both_targets() -> None:
    text = words(learnt_tables.importance(PAIR, PAIR.decoders[0]))
    assert (
        "importance head 0.93 (0.904 to 0.956) 0.12, n = 80 0.926, 0.93, 0.934 0.9 (0.874 to 0.926) 0.12, n = 80 0.896, 0.9, 0.904"
    ) in text
    assert "exact block norms (truncation) 0.96 (0.934 to 0.986) 0.12, n = 80 0.96 the target itself" in text
    for part in (
        "random 0.004",
        "two estimates (ceiling) 0.985",
        "digits × nano_supervised, class token from layer 4",
    ):
        assert part in text


def test_what_is_undefined_is_a_word() -> None:
    nothing = dict.fromkeys(PAIR.decoders[0].ceiling)
    one = dataclasses.replace(PAIR.decoders[0], ceiling=nothing)
    assert "two estimates (ceiling) undefined undefined undefined" in words(
        learnt_tables.importance(PAIR, one)
    )


def test_v1_stands_beside_ceiling_constant_and_chance() -> None:
    text = words(learnt_tables.alignment(PAIR))
    assert "depth map from layer 8 3 0.64 (0.614 to 0.666) 0.12, n = 80 0.636, 0.64, 0.644 0.71" in text
    assert "0.31 (0.284 to 0.336) 0.0833 patch mean from layer 8, latents 3 0.52" in text
    assert "class token" not in text, "no network was trained there"


def test_costs_are_weights_and_the_products_that_they_save() -> None:
    text = words(learnt_tables.cost(PAIR))
    assert "class token from layer 4, importance head 310,017 0: 41, 1: 38, 2: none rho 0.93" in text
    assert "energy error undefined" in text
    assert "train 400, val 80, test 80 not measured not measured, 188 products, krylov" in text


def test_measured_times_stand_beside_what_they_replace() -> None:
    seconds = {"cls-layer4": {"exact": 0.74, "importance": 0.0021}}
    text = words(learnt_tables.cost(learnt_pair(seconds=seconds)))
    assert "train 400, val 80, test 80 2.1 ms 740 ms, 188 products, krylov" in text


def test_exact_targets_cost_where_nothing_was_trained_too() -> None:
    bare = dataclasses.replace(PAIR, decoders=(dataclasses.replace(PAIR.decoders[0], models={}),))
    assert "class token from layer 4, no model 0 none none train 400" in words(learnt_tables.cost(bare))


def test_a_bottleneck_and_the_network_on_its_latents_cost_too() -> None:
    text = words(learnt_tables.cost(dataclasses.replace(PAIR, decoders=(PAIR.decoders[2],))))
    assert "patch mean from layer 8, bottleneck 5,130,000 one training rebuild error 0.083" in text
    assert "Spectral Pullback Network on the latents 2,420,000 0: 41" in text
    assert "not measured, 12 products, exact" in text
    assert "no model" not in text


def test_every_trial_is_told_also_without_a_result() -> None:
    text = words(learnt_tables.ranks(PAIR.decoders[1]))
    assert "rank 16, width 256 completed, best width 49.9 % 63.0 % 79.3 % 0.592 0.444 6,534,000" in text
    assert (
        "rank 16, width 128 failed: NumericalFailure: the loss is nan. none 63.0 % none none 0.444 none"
        in text
    )
    assert "n = 80 validation images" in text


def test_the_rebuild_error_stands_beside_every_figure() -> None:
    text = words(learnt_tables.bottlenecks(PAIR))
    assert text.count("0.083 (0.0786 to 0.0874) 0.041 (0.0388 to 0.0432) 32 × 128 = 4,096") == 4
    assert "patch mean from layer 8, entropy rank 410" in text
