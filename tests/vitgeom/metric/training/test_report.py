from __future__ import annotations

import json
import math

import pytest
import torch

from vitgeom.metric.training import EpochReport, HeldOutFigure


def test_undefined_images_count_for_nothing() -> None:
    figure = HeldOutFigure.of(torch.tensor([1.0, math.nan, 3.0]))
    assert (figure.mean, figure.images) == (2.0, 2)
    assert figure.std == pytest.approx(math.sqrt(2))


def test_one_image_has_no_deviation_and_none_has_no_mean() -> None:
    assert HeldOutFigure.of(torch.tensor([math.nan, 0.5])) == HeldOutFigure(0.5, None, 1)
    assert HeldOutFigure.of(torch.full((3,), math.nan)) == HeldOutFigure(None, None, 0)


def test_a_report_survives_json() -> None:
    figures = {"alignment": HeldOutFigure(0.25, None, 1), "none": HeldOutFigure(None, None, 0)}
    report = EpochReport(3, {"total": 0.1}, figures, 0.25, True, 1.5)
    assert EpochReport.from_json(json.loads(json.dumps(report.to_json()))) == report
