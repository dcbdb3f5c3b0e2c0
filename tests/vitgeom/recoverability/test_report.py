from __future__ import annotations

import json

import pytest
import torch

from vitgeom.errors import InvalidInput
from vitgeom.recoverability import RecoverabilityReport, analyse
from vitgeom.seeding import generator_for


def report_of(logits, labels, **settings):
    return analyse(
        logits, labels, num_bootstrap=50, num_permutations=5, generator=generator_for(0), **settings
    )


def test_json_round_trip(verdicts):
    report = report_of(*verdicts, best_layer=1)
    assert RecoverabilityReport.from_json(json.loads(json.dumps(report.to_json()))) == report


def test_nulls_survive_and_nothing_is_nan():
    labels = torch.tensor([0, 1])
    report = report_of(torch.eye(2)[labels].expand(3, 2, 2).clone(), labels)
    text = json.dumps(report.to_json(), allow_nan=False)
    data = json.loads(text)
    assert data["r_any"] is None
    assert data["recoverability"] == [None, None]
    assert data["errors"] == 0
    assert RecoverabilityReport.from_json(data) == report


def test_other_keys_are_refused(verdicts):
    data = report_of(*verdicts).to_json()
    data["r_all"] = data.pop("r_any")
    with pytest.raises(InvalidInput, match=r"missing \['r_any'\], unknown \['r_all'\]"):
        RecoverabilityReport.from_json(data)
