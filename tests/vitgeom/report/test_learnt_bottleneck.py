from __future__ import annotations

from typing import Any

import pytest

from tests.support.learnt_results import planted_metric
from vitgeom.report.learnt_bottleneck import FIGURES, bottleneck_problems, parse_bottleneck


def content() -> dict[str, Any]:
    return planted_metric(decoders=(("patch_mean", 8),))["pairs"][0]["bottleneck"]


def test_all_parts_are_those_of_the_file() -> None:
    found = parse_bottleneck(content())
    assert found is not None
    assert found.latents == 4096
    assert set(found.figures) == set(FIGURES)
    before, after = found.figures["participation_ratio"].before, found.figures["participation_ratio"].after
    assert before is not None
    assert after is not None
    assert (before.mean.value, after.mean.value) == (282.0, 41.0)
    assert list(bottleneck_problems(found)) == []


def test_no_bottleneck_is_none() -> None:
    assert parse_bottleneck(None) is None
    assert list(bottleneck_problems(None)) == []


def test_what_is_undefined_is_none() -> None:
    one = content()
    one["figures"]["r_90"] = {"before": None, "after": None}
    one["rebuild_error"] = None
    found = parse_bottleneck(one)
    assert found is not None
    assert (found.figures["r_90"].before, found.rebuild_error) == (None, None)
    assert list(bottleneck_problems(found)) == []


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (("figures", "kappa", "after"), "kappa behind the bottleneck must be 0 to 1, got 7"),
        (("rebuild_error",), None),
    ],
)
def test_a_share_lies_in_its_range_and_an_error_may_be_large(
    place: tuple[str, ...], words: str | None
) -> None:
    one = content()
    part = one
    for key in place:
        part = part[key]
    part["mean"] = {"value": 7.0, "low": 6.0, "high": 8.0}
    said = list(bottleneck_problems(parse_bottleneck(one)))
    assert said == ([] if words is None else [words])


def test_negative_errors_are_refused() -> None:
    one = content()
    one["task_error"]["mean"] = {"value": -1.0, "low": -1.0, "high": -1.0}
    assert "the task error must be 0 to inf, got -1" in next(bottleneck_problems(parse_bottleneck(one)))


@pytest.mark.parametrize("missing", ["registers", "width", "figures", "rebuild_error", "task_error"])
def test_a_missing_part_is_an_error_of_its_key(missing: str) -> None:
    one = content()
    del one[missing]
    with pytest.raises(KeyError, match=missing):
        parse_bottleneck(one)
