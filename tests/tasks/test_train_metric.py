"""One learnt metric as a unit: stored once, the same bytes however it was interrupted, and judged on test images alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch

from tasks import metric_material, train_metric, training_work
from tasks.metric_request import MetricRequest
from tasks.train_metric import HISTORY, MODEL, TEST, own_cpus, own_gpus, run
from tasks.training_work import PROGRESS, STATE, work
from tests.support.small_metric import TRAINING, request_of, sealed_targets
from vitgeom.errors import InvalidInput
from vitgeom.metric import load
from vitgeom.store.uri import Root

LEARNERS = ("importance", "spn")


def stored(request: MetricRequest) -> dict[str, bytes]:
    target = Root(request.store).join(request.path)
    return {name: target.read_bytes(name) for name in (MODEL, HISTORY, TEST)}


@pytest.mark.parametrize("learner", LEARNERS)
def test_a_model_is_trained_once_and_can_be_loaded(tmp_path: Path, learner: str) -> None:
    request = request_of(tmp_path, learner)
    first, again = run(request), run(request)
    assert (first.cached, again.cached) == (False, True)
    assert first.digest == again.digest
    assert first.detail["epochs"] == TRAINING["epochs"]
    target = Root(request.store).join(request.path)
    assert not target.exists(STATE)
    assert not target.exists(PROGRESS)
    model = load(tmp_path / request.path / MODEL)
    store = sealed_targets(tmp_path)
    features = torch.from_numpy(store.read("test", "features")).float()
    said = model(features)
    importance = said if isinstance(said, torch.Tensor) else said.token_importance()
    test = json.loads(stored(request)[TEST])
    torch.testing.assert_close(importance, torch.tensor(test["importance"]), rtol=1e-4, atol=1e-6)
    assert test["samples"] == store.sample_ids("test")
    assert sum(weights.numel() for weights in model.parameters()) == first.detail["parameters"]


@pytest.mark.parametrize("learner", LEARNERS)
@pytest.mark.parametrize("epoch", [1, 2, 3])
def test_wherever_it_is_interrupted_the_bytes_are_those_of_an_undisturbed_training(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, learner: str, epoch: int
) -> None:
    undisturbed = request_of(tmp_path / "a", learner)
    run(undisturbed)
    request = request_of(tmp_path / "b", learner)

    def die(report: Any) -> None:
        if report.epoch == epoch:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        work(request, on_report=die)
    assert json.loads(Root(request.store).join(request.path).read_bytes(PROGRESS))["epoch"] == epoch
    seen: list[int] = []
    real = training_work.train

    def counted(*args: Any, **options: Any) -> Any:
        keep = options["on_epoch"]
        options["on_epoch"] = lambda report, state: (seen.append(report.epoch), keep(report, state))[1]
        return real(*args, **options)

    monkeypatch.setattr(training_work, "train", counted)
    run(request)
    assert seen == list(range(epoch + 1, TRAINING["epochs"] + 1))
    assert stored(request) == stored(undisturbed)


def test_a_damaged_state_is_begun_anew(tmp_path: Path) -> None:
    undisturbed, request = request_of(tmp_path / "a"), request_of(tmp_path / "b")
    run(undisturbed)
    Root(request.store).join(request.path).write_bytes(STATE, b"half of a fi")
    run(request)
    assert stored(request) == stored(undisturbed)


def test_targets_on_disk_give_the_same_model_as_targets_in_memory(tmp_path: Path) -> None:
    kept, read = request_of(tmp_path / "a", "spn"), request_of(tmp_path / "b", "spn", keep_bytes=0)
    run(kept)
    run(read)
    assert stored(kept) == stored(read)


def test_test_images_are_not_looked_at_before_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, asked = request_of(tmp_path), list[str]()
    real = metric_material.examples_of
    monkeypatch.setattr(
        metric_material,
        "examples_of",
        lambda request, store, split: (asked.append(split), real(request, store, split))[1],
    )
    work(request)
    assert set(asked) == {"train", "val"}


def test_more_directions_than_targets_hold_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"rank must be at most 2"):
        run(request_of(tmp_path, "spn", rank=3))


def test_other_targets_than_those_pinned_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="manifest_digest"):
        run(request_of(tmp_path, manifest_digest="0" * 64))


def test_workers_of_ray_ask_for_themselves(tmp_path: Path) -> None:
    here, ray = request_of(tmp_path), request_of(tmp_path, trainer="ray", workers=2)
    assert (own_cpus(here), own_cpus(ray)) == (1.0, 0.0)
    gpu = request_of(tmp_path, training={**TRAINING, "device": "cuda"})
    assert (own_gpus(here), own_gpus(gpu), own_gpus(gpu.model_copy(update={"trainer": "ray"}))) == (
        0.0,
        1.0,
        0.0,
    )


def test_the_memory_of_kept_targets_and_wide_networks_counts(tmp_path: Path) -> None:
    small = train_metric.memory(request_of(tmp_path, "importance"))
    assert small < train_metric.memory(request_of(tmp_path, "spn"))
    assert train_metric.memory(request_of(tmp_path, "spn", keep_bytes=0)) < train_metric.memory(
        request_of(tmp_path, "spn")
    )
