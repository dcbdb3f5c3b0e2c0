"""Receipts: small, frozen, closed."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from tasks.receipt import Receipt


def receipt(**changes: object) -> Receipt:
    fields = {
        "task": "t",
        "key": "k",
        "uri": "/s",
        "digest": "d",
        "seconds": 1.5,
        "peak_bytes": 7,
        "cached": False,
        "rows": 3,
    }
    return Receipt(**{**fields, **changes})


def test_a_receipt_survives_json() -> None:
    one = receipt(detail={"recomputed": 2, "splits": {"train": 3}})
    assert Receipt.model_validate_json(one.model_dump_json()) == one


@pytest.mark.parametrize("change", [{"seconds": -1.0}, {"rows": -1}, {"peak_bytes": -1}])
def test_negative_amounts_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ValidationError, match="greater than or equal to 0"):
        receipt(**change)


def test_unknown_fields_are_refused() -> None:
    with pytest.raises(ValidationError, match="Extra inputs"):
        receipt(array=[1, 2])
