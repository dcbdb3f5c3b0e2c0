"""Lines while models are trained: each epoch once, and one per finished model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tasks import training_watch
from tasks.metric_request import MetricRequest
from tasks.receipt import Receipt
from tasks.training_watch import line_of, progress_of, watched
from tasks.training_work import PROGRESS
from tests.support.waiting import wait_until
from vitgeom.store.uri import Root


def request(folder: Path) -> MetricRequest:
    return MetricRequest(
        store=str(folder),
        address="targets/scenes/nano/cls-layer10/0123",
        manifest_digest="ab",
        learner="importance",
        rank=4,
        num_prefix=1,
    )


def leave(asked: MetricRequest, **changes: Any) -> dict[str, Any]:
    said = {"epoch": 1, "epochs": 9, "figure": "rho", "value": 0.25, "best": 0.5, "finished": None, **changes}
    Root(asked.store).join(asked.path).write_bytes(PROGRESS, json.dumps(said).encode())
    return said


def test_progress_is_what_the_training_left(tmp_path: Path) -> None:
    asked = request(tmp_path)
    assert progress_of(asked) is None
    said = leave(asked)
    assert progress_of(asked) == said
    assert line_of(said) == "epoch 1 of 9, rho 0.250 (best 0.500)"
    assert line_of({**said, "value": None}) == "epoch 1 of 9, rho undefined (best 0.500)"
    Root(asked.store).join(asked.path).write_bytes(PROGRESS, b"{")
    assert progress_of(asked) is None


def test_each_epoch_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_watch, "EVERY_SECONDS", 0.01)
    asked, lines = request(tmp_path), list[str]()
    with watched([asked], emit=lines.append, label="train scenes") as seen:
        leave(asked)
        wait_until(lambda: len(lines) == 1)
        leave(asked, epoch=2)
        wait_until(lambda: len(lines) == 2)
        seen(
            Receipt(
                task="train_metric",
                key=asked.key,
                uri="",
                digest="",
                seconds=3,
                peak_bytes=0,
                cached=False,
                rows=1,
                detail={"epochs": 2},
            )
        )
    assert "epoch 1 of 9" in lines[0]
    assert "epoch 2 of 9" in lines[1]
    assert lines[2] == f"train scenes: 1 of 1 models, {asked.key}: 2 epochs in 3 s"
