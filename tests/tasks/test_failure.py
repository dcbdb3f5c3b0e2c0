"""The verdict on each kind of error, pauses, and renaming without losing the kind."""

from __future__ import annotations

import pickle

import pytest

from tasks.failure import (
    RetryPolicy,
    StorageOverflow,
    Verdict,
    WorkerDied,
    WorkerOutOfMemory,
    judge,
    with_message,
)
from vitgeom.errors import (
    CorruptData,
    IncompleteData,
    InvalidInput,
    NumericalFailure,
    ResourceShortage,
    StoreError,
    StoreLocked,
    UnknownName,
)
from vitgeom.store.failures import MissingObject


@pytest.mark.parametrize(
    ("error", "verdict"),
    [
        (StoreError("x"), Verdict.RETRY),
        (WorkerDied("x"), Verdict.RETRY),
        (ConnectionResetError("x"), Verdict.RETRY),
        (TimeoutError("x"), Verdict.RETRY),
        (WorkerOutOfMemory("x"), Verdict.SHRINK),
        (MemoryError("x"), Verdict.SHRINK),
        (StorageOverflow("x"), Verdict.STOP),
        (StoreLocked("x"), Verdict.STOP),
        (MissingObject("x"), Verdict.GIVE_UP),
        (IncompleteData("x"), Verdict.GIVE_UP),
        (CorruptData("x"), Verdict.GIVE_UP),
        (InvalidInput("x"), Verdict.GIVE_UP),
        (NumericalFailure("x"), Verdict.GIVE_UP),
        (ResourceShortage("x"), Verdict.GIVE_UP),
        (TypeError("x"), Verdict.GIVE_UP),
    ],
)
def test_the_verdict_follows_the_kind(error: Exception, verdict: Verdict) -> None:
    assert judge(error) is verdict


def test_pauses_double_up_to_a_limit_with_a_little_spread() -> None:
    policy = RetryPolicy(retries=9, first_pause=1.0, longest_pause=5.0)
    for attempt, base in ((1, 1.0), (2, 2.0), (3, 4.0), (4, 5.0), (9, 5.0)):
        assert base <= policy.pause(attempt) <= 1.25 * base


def test_a_renamed_error_keeps_kind_attributes_and_cause() -> None:
    original = IncompleteData("rows are missing", missing=[("train", 0, 64)])
    renamed = with_message(original, "unit a: rows are missing")
    assert isinstance(renamed, IncompleteData)
    assert (str(renamed), renamed.missing, renamed.__cause__) == (
        "unit a: rows are missing",
        (("train", 0, 64),),
        original,
    )
    assert str(original) == "rows are missing"


def test_errors_with_constructors_of_their_own_can_be_renamed() -> None:
    renamed = with_message(UnknownName("dataset", "digit", ["digits"]), "unit a: no such data set")
    assert isinstance(renamed, UnknownName)
    assert str(renamed) == "unit a: no such data set"


def test_a_foreign_error_gets_a_note() -> None:
    error = KeyError("slip")
    assert with_message(error, "unit a failed") is error
    assert error.__notes__ == ["unit a failed"]


@pytest.mark.parametrize("kind", [WorkerDied, WorkerOutOfMemory, StorageOverflow])
def test_our_errors_travel_between_processes(kind: type[Exception]) -> None:
    copied = pickle.loads(pickle.dumps(kind("what happened")))
    assert type(copied) is kind
    assert str(copied) == "what happened"
