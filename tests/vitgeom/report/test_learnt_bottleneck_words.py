from __future__ import annotations

import dataclasses

from tests.support.learnt_results import learnt_pair
from vitgeom.report.learnt_bottleneck import Bottleneck, Change
from vitgeom.report.learnt_bottleneck_words import bottleneck_statement, lowers_rank


def bottleneck() -> Bottleneck:
    found = learnt_pair(decoders=(("patch_mean", 8),)).decoders[0].bottleneck
    assert found is not None
    return found


def test_ranks_and_the_price_are_told_together() -> None:
    said = bottleneck_statement(bottleneck())
    assert said.verdict == (
        "Bottleneck: 4,096 numbers in front of the decoder lower the effective rank, at a rebuild error of 0.083 (0.0786 to 0.0874)."
    )
    for part in ("participation ratio 282 (", "→ 41 (", "directions for 90 % 655 (", "off by 0.041 ("):
        assert part in said.evidence


def test_a_rank_that_does_not_fall_is_said_plainly() -> None:
    found = bottleneck()
    change = found.figures["participation_ratio"]
    for other in (
        Change(change.before, change.before),
        Change(change.after, change.before),
        Change(None, change.after),
    ):
        flat = dataclasses.replace(found, figures={**found.figures, "participation_ratio": other})
        assert not lowers_rank(flat)
        assert "are NOT shown to lower the effective rank" in bottleneck_statement(flat).verdict
    assert lowers_rank(found)
