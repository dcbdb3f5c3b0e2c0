"""The address of a sweep depends on what decides its result, and on nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from tasks.sweep_request import SweepRequest


def request(**changes: Any) -> SweepRequest:
    fields = {
        "store": "here",
        "address": "features/digits/nano/abc",
        "manifest_digest": "d",
        "l2": (0.1,),
        "space": {"hidden_dim": (1, 2)},
    }
    return SweepRequest(**{**fields, **changes})


def test_the_path_names_data_set_and_backbone() -> None:
    assert request().path.startswith("sweeps/digits/nano/")


@pytest.mark.parametrize("changes", [{"store": "there"}, {"threads": 4}, {"probes": "there/probes"}])
def test_where_and_how_does_not_change_the_path(changes: dict[str, Any]) -> None:
    assert request(**changes).path == request().path


@pytest.mark.parametrize(
    "changes",
    [
        {"manifest_digest": "e"},
        {"space": {"hidden_dim": (2, 1)}},
        {"seed": 1},
        {"fold_tol": 1e-3},
        {"encoder": {"dropout": 0.3}},
        {"metric": "accuracy"},
        {"early_stopping": "none"},
    ],
)
def test_what_decides_the_result_changes_the_path(changes: dict[str, Any]) -> None:
    assert request(**changes).path != request().path


def test_without_early_stopping_there_is_no_rung() -> None:
    assert request(early_stopping="none").rule.rungs == ()
    assert request(encoder={"max_epochs": 20}, grace_epochs=4, reduction_factor=3).rule.rungs == (4, 12)


def test_a_request_survives_json() -> None:
    one = request(space={"selection": ("holistic", (0, 2)), "latent_dim": (None, 4), "orth_weight": (0.0, 1)})
    assert SweepRequest.model_validate_json(one.model_dump_json()) == one
