from __future__ import annotations

import dataclasses
import json
import math

import pytest
import torch

from vitgeom.errors import InvalidInput, UnknownName
from vitgeom.metric.training import TrainingSettings


def unchecked(**values: object) -> None:
    """Ask the rules about values that the type checker of these tests would not let through."""
    settings = object.__new__(TrainingSettings)
    for field in dataclasses.fields(TrainingSettings):
        object.__setattr__(settings, field.name, values.get(field.name, field.default))
    TrainingSettings.__post_init__(settings)


def test_settings_survive_json() -> None:
    settings = TrainingSettings(epochs=3, learning_rate=0.5, precision="bfloat16", device="cuda:1")
    assert TrainingSettings.from_json(json.loads(json.dumps(settings.to_json()))) == settings


@pytest.mark.parametrize(
    ("name", "value", "rule"),
    [
        ("epochs", 0, "whole number >= 1"),
        ("batch_size", 1.5, "whole number >= 1"),
        ("patience", True, "whole number >= 1"),
        ("learning_rate", 0.0, "finite number > 0"),
        ("learning_rate", math.nan, "finite number > 0"),
        ("learning_rate", "fast", "finite number > 0"),
        ("clip_norm", -1.0, "finite number > 0"),
        ("weight_decay", -1e-3, "finite number >= 0"),
        ("beta", math.inf, "finite number >= 0"),
        ("warm_up", 1.0, r"finite number in \[0, 1\)"),
        ("seed", None, "whole number"),
    ],
)
def test_what_cannot_be_trained_with_is_refused(name: str, value: object, rule: str) -> None:
    with pytest.raises(InvalidInput, match=f"{name} must be a {rule}, got"):
        unchecked(**{name: value})


def test_unknown_names_are_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"unknown training setting 'epoch'\. Did you mean 'epochs'"):
        TrainingSettings.from_json({"epoch": 3})
    with pytest.raises(UnknownName, match="unknown precision 'float16'"):
        TrainingSettings(precision="float16")
    with pytest.raises(InvalidInput, match="device must be a name"):
        unchecked(device=0)


def test_the_machine_is_asked_only_where_training_happens() -> None:
    far = TrainingSettings(device="cuda:17")
    with pytest.raises(InvalidInput, match="cuda:17"):
        far.check_machine()
    TrainingSettings().check_machine()
    with pytest.raises(InvalidInput, match="precision='bfloat16' needs a CUDA device"):
        TrainingSettings(precision="bfloat16").check_machine()


@pytest.mark.skipif(not torch.cuda.is_available(), reason="no CUDA device")
def test_a_gpu_may_compute_in_bfloat16() -> None:
    TrainingSettings(precision="bfloat16", device="cuda").check_machine()
