from __future__ import annotations

import pickle

import pytest

from vitgeom.errors import (
    CorruptData,
    IncompleteData,
    InvalidInput,
    NumericalFailure,
    ResourceShortage,
    StoreError,
    StoreLocked,
    UnknownName,
    VitgeomError,
    nearest,
)


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (InvalidInput, ValueError),
        (StoreError, OSError),
        (StoreLocked, OSError),
        (CorruptData, OSError),
        (NumericalFailure, ArithmeticError),
        (ResourceShortage, RuntimeError),
    ],
)
def test_each_error_is_also_the_builtin_a_caller_expects(
    error: type[Exception], builtin: type[Exception]
) -> None:
    with pytest.raises(builtin, match="rows = 0"):
        raise error("rows = 0 must be positive")


def test_an_unknown_name_suggests_the_nearest_and_lists_the_rest() -> None:
    error = UnknownName("dataset", "digit", ["photos", "digits"], hint="Or give --data FOLDER.")
    assert (
        str(error)
        == "unknown dataset 'digit'. Did you mean 'digits'? Known: digits, photos. Or give --data FOLDER."
    )
    assert isinstance(error, LookupError)


def test_nearest_ignores_case_and_stays_silent_when_nothing_is_close() -> None:
    assert nearest("DIGITS", ["digits"]) == " Did you mean 'digits'?"
    assert nearest("qqqq", ["digits", "photos"]) == ""


@pytest.mark.parametrize(
    "error",
    [
        InvalidInput("k must be >= 2, got 1."),
        UnknownName("layer", "x", ["y"]),
        IncompleteData("rows 0-8 of train are missing", missing=[("train", 0, 8)]),
    ],
)
def test_errors_survive_the_trip_between_processes(error: VitgeomError) -> None:
    back = pickle.loads(pickle.dumps(error))  # our own object, made in this test
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert back.__dict__ == error.__dict__
