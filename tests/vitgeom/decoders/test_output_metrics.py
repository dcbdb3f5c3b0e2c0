from __future__ import annotations

import pytest
import torch

from vitgeom.decoders.output_metrics import OUTPUT_METRICS, output_metric
from vitgeom.errors import InvalidInput, UnknownName


def test_the_euclidean_one_is_the_identity() -> None:
    assert output_metric("euclidean", torch.ones(5)) is None


def test_poses_are_measured_by_angles() -> None:
    pose = torch.tensor([0.0, 0, 0, 0, 0, 0, 1, 0.5, 0.5], dtype=torch.float64)
    metric = output_metric("so3", pose)
    assert metric is not None
    assert metric.shape == (8, 9)
    # At the identity a change of the quaternion's x by s turns by 2 s.
    turned = metric.matmat(torch.eye(9, dtype=torch.float64)[:, 3:4])
    assert float(turned.norm()) == pytest.approx(2.0)


def test_what_is_no_pose_and_what_is_no_metric_are_refused() -> None:
    with pytest.raises(InvalidInput, match="9"):
        output_metric("so3", torch.ones(5))
    with pytest.raises(UnknownName, match="Did you mean 'so3'"):
        output_metric("s03", torch.ones(9))
    assert set(OUTPUT_METRICS) == {"euclidean", "so3"}
