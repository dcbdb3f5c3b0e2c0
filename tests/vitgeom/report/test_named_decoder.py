from __future__ import annotations

import pytest

from vitgeom.report.named_decoder import NamedDecoder


@pytest.mark.parametrize(
    ("name", "metric", "label", "key"),
    [
        ("cls", "euclidean", "class token from layer 3", "cls-layer3"),
        ("my_head", "euclidean", "my head from layer 3", "my_head-layer3"),
        (
            "scenes_camera",
            "so3",
            "camera pose, rotations as angles from layer 3",
            "scenes_camera-so3-layer3",
        ),
        ("cls", "own", "class token, own from layer 3", "cls-own-layer3"),
    ],
)
def test_names_for_readers_and_for_machines(name: str, metric: str, label: str, key: str) -> None:
    one = NamedDecoder(name, 3, metric)
    assert (one.label, one.key) == (label, key)
