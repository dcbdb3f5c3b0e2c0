from __future__ import annotations

import math

import pytest
import torch

from vitgeom.decoders.training import objectives


def test_depth_figures_by_hand():
    predicted = torch.tensor([2.0, 4.0]).view(1, 1, 1, 2)
    wanted = torch.tensor([1.0, 4.0]).view(1, 1, 1, 2)
    found = objectives.depth_figures(predicted, wanted)
    assert found == pytest.approx({"AbsRel": 0.5, "RMSE": math.sqrt(0.5), "delta1": 0.5})
    assert float(objectives.depth_loss(predicted, wanted)) == pytest.approx(math.log(2) / 2)


def test_points_figures_by_hand():
    wanted = torch.tensor([0.0, 0.0, 5.0]).view(1, 3, 1, 1)
    predicted = torch.tensor([3.0, 4.0, 5.0]).view(1, 3, 1, 1)
    found = objectives.points_figures(predicted, wanted)
    assert found == pytest.approx({"mean error": 5.0, "median error": 5.0, "relative error": 1.0})
    assert float(objectives.points_loss(predicted, wanted)) == pytest.approx(1.0, abs=1e-4)


def test_pose_figures_by_hand_and_the_sign_of_a_quaternion_does_not_count():
    half = math.radians(10) / 2
    wanted = torch.tensor([[0.0, 0, 1, 0, 0, 0, 1, 1, 1]])
    predicted = torch.tensor([[0.0, 3, 5, 0, -math.sin(half), 0, -math.cos(half), 1, 1 + math.radians(2)]])
    found = objectives.pose_figures(predicted, wanted)
    assert found == pytest.approx(
        {"rotation (degrees)": 10.0, "translation": 5.0, "view (degrees)": 1.0}, rel=1e-5
    )
    flipped = predicted.clone()
    flipped[:, 3:7] *= -1
    torch.testing.assert_close(objectives.pose_loss(flipped, wanted), objectives.pose_loss(predicted, wanted))


def test_the_truth_costs_nothing():
    pose = torch.tensor([[0.0, 0, 1, 0, 0, 0, 1, 1, 1]])
    assert float(objectives.pose_loss(pose, pose)) == 0
    depth = torch.rand(1, 1, 2, 2) + 1
    assert float(objectives.depth_loss(depth, depth)) == 0
    points = torch.rand(1, 3, 2, 2) + 1
    assert float(objectives.points_loss(points, points)) < 1e-3
