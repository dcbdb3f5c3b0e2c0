from __future__ import annotations

from typing import Any

import pytest

from tests.support.learnt_results import average
from vitgeom.report.averaged import averaged_problems, parse_averaged


def problems(**change: Any) -> list[str]:
    content = average(0.5, images=9, seeds=2)
    content["mean"].update({key: change.pop(key) for key in list(change) if key in content["mean"]})
    return list(averaged_problems("rho", parse_averaged({**content, **change}), least=-1.0, most=1.0))


def test_all_parts_are_those_of_the_file() -> None:
    content = average(0.5, std=0.3, images=9, seeds=2)
    found = parse_averaged(content)
    assert found is not None
    assert found.mean.to_json() == content["mean"]
    assert (found.images, found.std, list(found.seeds)) == (9, 0.3, content["seeds"])
    assert problems() == []


def test_what_is_defined_nowhere_is_none_and_no_problem() -> None:
    assert parse_averaged(None) is None
    assert list(averaged_problems("rho", None)) == []


@pytest.mark.parametrize("missing", ["mean", "images", "std", "seeds"])
def test_a_missing_part_is_an_error_of_its_key(missing: str) -> None:
    content = average(0.5)
    del content[missing]
    with pytest.raises(KeyError, match=missing):
        parse_averaged(content)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"value": float("nan")}, "rho must be a finite number with an interval from low to high"),
        ({"high": float("inf")}, "finite number"),
        ({"low": 0.9}, "interval from low to high"),
        ({"value": 1.2}, "rho must be -1 to 1, got 1.2"),
        ({"value": -1.2}, "rho must be -1 to 1, got -1.2"),
        ({"images": 0}, "at least one image and one seed, got 0 and 2"),
        ({"seeds": []}, "at least one image and one seed, got 9 and 0"),
    ],
)
def test_what_cannot_be_is_named(change: dict[str, Any], words: str) -> None:
    [said] = problems(**change)
    assert words in said
