"""What decides a bottleneck, and what only says how it is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError

from tests.support.small_bottleneck import bottleneck_request


@pytest.mark.parametrize(
    "change",
    [
        {"trainer": "ray", "workers": 2},
        {"threads": 3},
        {"store": "memory://x"},
        {"training": {"epochs": 2, "batch_size": 3, "patience": 2, "device": "cuda"}},
    ],
)
def test_how_changes_no_place(tmp_path: Path, change: dict[str, Any]) -> None:
    assert bottleneck_request(tmp_path, **change).path == bottleneck_request(tmp_path).path


@pytest.mark.parametrize(
    "change",
    [
        {"registers": 3},
        {"kl_weight": 0.0},
        {"seed": 1},
        {"images": {"train": (1,), "val": (1,), "test": (1,)}},
        {"weights_digest": "0"},
    ],
)
def test_what_decides_changes_it(tmp_path: Path, change: dict[str, Any]) -> None:
    assert bottleneck_request(tmp_path, **change).path != bottleneck_request(tmp_path).path


def test_bad_requests_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValidationError, match="images must name at least one row of val"):
        bottleneck_request(tmp_path, images={"train": (1,), "test": (1,)})
    with pytest.raises(ValidationError, match="training must not hold a seed"):
        bottleneck_request(tmp_path, training={"seed": 1})
    with pytest.raises(ValidationError, match="registers"):
        bottleneck_request(tmp_path, registers=0)
