"""The sweep: against exhaustive search by the library, resumed, refused, and blind to the test split."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tasks import sweep_trial
from tasks.search_space import combinations
from tasks.sweep_board import Board
from tasks.sweep_fusion import run, stored
from tasks.sweep_request import SweepRequest
from tasks.trials import in_turn
from tests.support.sweep_features import SPACE, sweep_request, sweep_store
from vitgeom.errors import IncompleteData, InvalidInput, NumericalFailure, UnknownName
from vitgeom.fusion import EvidenceSettings, gather_evidence
from vitgeom.fusion.vfusion import VFusionClassifier
from vitgeom.store.feature_store import FeatureStore

QUICK: dict[str, Any] = {"layer_scaling": ("none",), **SPACE}


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> tuple[FeatureStore, Path]:
    folder = tmp_path_factory.mktemp("features")
    return sweep_store(str(folder)), folder


def request(place: tuple[FeatureStore, Path], **changes: Any) -> SweepRequest:
    return sweep_request(*place, **{"space": QUICK, "max_epochs": 4, **changes})


def read(receipt: Any, name: str) -> dict[str, Any]:
    return dict(json.loads(Path(receipt.uri, name).read_bytes()))


def test_the_winner_is_that_of_an_exhaustive_search(place: tuple[FeatureStore, Path]) -> None:
    asked = request(place, early_stopping="none")
    store, _ = place
    X, X_val = (store.read(split, "cls").copy() for split in ("train", "val"))
    y, y_val = (np.array(store.read(split, "label")) for split in ("train", "val"))
    evidence = gather_evidence(X, y, X_val, y_val, settings=EvidenceSettings(l2=asked.l2))
    ranked = []
    for index, parameters in enumerate(combinations(QUICK, num_samples=None, num_layers=3, seed=0)):
        one = VFusionClassifier(**parameters, max_epochs=4).fit_evidence(evidence)
        loss, right = one.summary()["val_loss"], float((one.predict(X_val) == y_val).mean())
        ranked.append((loss, one.num_parameters(), index, right))
    receipt = run(asked)
    best = read(receipt, "best.json")
    loss, size, index, right = min(ranked)
    assert (best["index"], best["num_parameters"]) == (index, size)
    assert best["val_loss"] == pytest.approx(loss, rel=1e-5)
    assert best["val_accuracy"] == pytest.approx(right)
    trials = read(receipt, "trials.json")["trials"]
    assert [trial["state"] for trial in trials] == ["completed"] * 8
    assert [trial["val_loss"] for trial in trials] == pytest.approx([one[0] for one in ranked], rel=1e-5)


def test_a_finished_sweep_is_returned_without_running_a_trial(
    place: tuple[FeatureStore, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = run(request(place))
    again = run(request(place), lambda request, board: pytest.fail("a trial was run"))
    assert again == stored(request(place)) == first.model_copy(update={"cached": True})
    assert not Path(first.uri, "evidence").exists()


def test_an_interrupted_sweep_computes_only_what_is_missing_and_ends_with_the_same_bytes(
    place: tuple[FeatureStore, Path], tmp_path: Path
) -> None:
    asked = request((place[0], tmp_path), seed=3)
    sweep_store(str(tmp_path))
    began: list[int] = []

    def breaks_off(request: SweepRequest, board: Board) -> None:
        def note(index: int, epoch: int, **figures: float) -> bool:
            if (index, epoch) == (3, 2):
                raise KeyboardInterrupt
            began.extend([index] * (epoch == 0))
            return Board.note(board, index, epoch, **figures)

        board.note = note  # type: ignore[method-assign]
        in_turn(request, board)

    with pytest.raises(KeyboardInterrupt):
        run(asked, breaks_off)
    assert stored(asked) is None
    resumed = run(asked)
    assert resumed.detail["computed_trials"] == 5
    assert began == [0, 1, 2, 3]
    undisturbed = run(request(place, seed=3))
    assert resumed.digest == undisturbed.digest


def test_trials_that_stay_missing_are_said_to_be(place: tuple[FeatureStore, Path]) -> None:
    with pytest.raises(IncompleteData, match="8 of 8 trials of the sweep are not finished"):
        run(request(place, seed=4), lambda request, board: None)


def test_more_latents_than_rows_is_a_failed_trial_and_no_crash(place: tuple[FeatureStore, Path]) -> None:
    receipt = run(
        request(place, space={"selection": ("last",), "layer_scaling": ("none",), "latent_dim": (5000, 2)})
    )
    too_many, fits = read(receipt, "trials.json")["trials"]
    assert (too_many["state"], fits["state"]) == ("failed", "completed")
    assert "latent_dim must be at most" in too_many["problem"]
    assert (receipt.detail["index"], receipt.detail["trials"]["failed"]) == (1, 1)


def test_a_sweep_of_failed_trials_is_an_error_that_says_why(place: tuple[FeatureStore, Path]) -> None:
    asked = request(place, space={"selection": ("last",), "layer_scaling": ("none",), "latent_dim": (5000,)})
    with pytest.raises(
        NumericalFailure, match=r"all 1 trials of the sweep failed.*latent_dim must be at most"
    ):
        run(asked)


def test_what_is_not_the_trials_fault_ends_the_sweep(
    place: tuple[FeatureStore, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*arguments: Any, **options: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(sweep_trial, "stored_evidence", full)
    with pytest.raises(OSError, match="no space left"):
        run(request(place, seed=5))


def test_a_space_or_features_that_cannot_be_used_are_refused_first(place: tuple[FeatureStore, Path]) -> None:
    with pytest.raises(UnknownName, match="Did you mean 'hidden_dim'"):
        run(request(place, space={"hiden_dim": (1,)}))
    with pytest.raises(InvalidInput, match="manifest_digest='other'"):
        run(request(place, manifest_digest="other"))


def test_the_test_split_is_never_read(
    place: tuple[FeatureStore, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    read_rows = FeatureStore.read

    def no_test(self: FeatureStore, split: str, *arguments: Any, **options: Any) -> Any:
        assert split != "test", "the sweep read the test split"
        return read_rows(self, split, *arguments, **options)

    monkeypatch.setattr(FeatureStore, "read", no_test)
    with pytest.raises(AssertionError, match="read the test split"):
        place[0].read("test", "label")
    assert run(request(place, seed=6, space={"selection": ("last",), "layer_scaling": ("none",)})).rows == 130


def test_early_stopping_ends_trials_and_the_winner_ran_to_its_end(place: tuple[FeatureStore, Path]) -> None:
    # The first layer alone says little.
    space = {"selection": ("last", (0,)), "layer_scaling": ("none",), "hidden_dim": (4, 8)}
    receipt = run(request(place, space=space, max_epochs=6, patience=6))
    trials = read(receipt, "trials.json")["trials"]
    stopped = [trial for trial in trials if trial["state"] == "stopped"]
    assert [trial["index"] for trial in stopped] == [2, 3]
    assert all(trial["epochs"] in (1, 2, 4) for trial in stopped)
    assert trials[receipt.detail["index"]]["state"] == "completed"
    assert trials[0]["epochs"] == 6
    assert len(stopped) == receipt.detail["trials"]["stopped"]
