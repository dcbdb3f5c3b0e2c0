from __future__ import annotations

from typing import Any

import pytest
from safetensors.torch import save

from tests.support.fused_results import NUM_TEST, SKILLS, across, fused_pair, planted_answers, planted_table
from vitgeom.errors import InvalidInput
from vitgeom.report.fused_pair import parse_fused_pair


def parsed(table: dict[str, Any], answers: dict[str, Any] | None = None) -> Any:
    return parse_fused_pair(
        dataset="digits",
        backbone="nano",
        table=table,
        predictions=save(answers or planted_answers()),
        seconds_per_image={},
    )


def test_every_row_of_the_table_is_there_with_title_and_cost() -> None:
    pair = fused_pair(failures={"stacking": "InvalidInput: no"})
    assert [row.name for row in pair.methods] == list(SKILLS)
    assert pair.reference.title == "VFusion"
    assert (pair.reference.parameters, pair.reference.seconds_per_image) == (12_345, 2.5e-5)
    assert pair.failures == (("Logistic stacking", "InvalidInput: no"),)
    assert pair.method("vfusion") is pair.reference
    assert pair.method("hfusion") is None
    assert pair.comparison.num_samples == NUM_TEST


def test_a_row_that_is_no_method_has_its_name_and_score_only() -> None:
    [alone, _, together] = across().methods
    assert (alone.title, alone.family, alone.parameters) == ("last layer of a", "single", None)
    assert (together.title, together.family) == ("HFusion", "horizontal")


@pytest.mark.parametrize("part", ["comparison", "methods", "failures", "layers"])
def test_a_missing_part_is_named(part: str) -> None:
    table = planted_table()
    del table[part]
    with pytest.raises(InvalidInput, match=f"methods of digits × nano lacks what the report needs .*{part}"):
        parsed(table)


def test_a_reference_that_is_not_there_is_refused() -> None:
    table = planted_table()
    table["comparison"]["reference"] = "hfusion"
    with pytest.raises(InvalidInput, match="unknown method 'hfusion'"):
        parsed(table)


@pytest.mark.parametrize(
    "span", [{"value": float("nan"), "low": 0.0, "high": 1.0}, {"value": 0.5, "low": 0.6, "high": 0.4}]
)
def test_numbers_that_are_none_are_refused(span: dict[str, float]) -> None:
    table = planted_table()
    table["comparison"]["rows"][0]["accuracy"] = span
    with pytest.raises(
        InvalidInput, match="accuracy and difference of last_layer on digits × nano must be finite"
    ):
        parsed(table)


def test_predictions_of_other_methods_or_images_are_refused() -> None:
    answers = planted_answers()
    answers["stacking"] = answers.pop("vfusion")
    with pytest.raises(InvalidInput, match=r"missing \['vfusion'\], unknown \['stacking'\]"):
        parsed(planted_table(), answers)
    with pytest.raises(InvalidInput, match="100 images"):
        parsed(planted_table(), {name: given[..., :100].clone() for name, given in planted_answers().items()})
