"""Each trial of a sweep over ranks is a run: its sizes, its curve, its figures, and whether it was the best of its rank."""

from __future__ import annotations

from typing import Any

from flows.rank_records import rank_records


def trial(rank: int, hidden: int, **changes: Any) -> dict[str, Any]:
    return {
        "rank": rank,
        "hidden": hidden,
        "state": "completed",
        "epochs": 2,
        "alignment": 0.5,
        "captured": 0.3,
        "ceiling": 0.4,
        "parameters": 100,
        "problem": None,
        "curve": [0.9, None, 0.5],
        **changes,
    }


def learnt(*trials: dict[str, Any]) -> dict[str, Any]:
    ranks = {"trials": list(trials), "best": [{"rank": 5, "hidden": 64}]} if trials else None
    return {"pairs": [{"decoder": {"name": "cls", "layer": 10}, "origin": {"digest": "ab"}, "ranks": ranks}]}


def test_every_trial_is_a_run_of_its_own() -> None:
    failed = trial(5, 8, state="failed", alignment=None, captured=None, problem="too wide", curve=[])
    best, other = rank_records("scenes × nano", learnt(trial(5, 64), failed))
    assert best.name == "scenes × nano: cls-layer10 rank 5 hidden 64"
    assert best.params == {"rank": 5, "hidden": 64}
    assert [(metric.name, metric.value, metric.step) for metric in best.metrics][:2] == [
        ("alignment_by_epoch", 1 - 0.9, 1),
        ("alignment_by_epoch", 0.5, 3),
    ]
    assert {metric.name: metric.value for metric in best.metrics}["captured"] == 0.3
    assert (best.tags["vitgeom.best"], other.tags["vitgeom.best"]) == ("True", "False")
    assert other.tags["vitgeom.problem"] == "too wide"
    assert best.key != other.key


def test_without_a_sweep_there_is_none() -> None:
    assert list(rank_records("cell", None)) == []
    assert list(rank_records("cell", learnt())) == []
