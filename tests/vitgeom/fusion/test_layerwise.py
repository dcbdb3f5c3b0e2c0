from __future__ import annotations

import json

import numpy as np
import pytest
import torch

from tests.support.fusion_data import NUM_LAYERS, TEST, evidence, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion.logit_average import LogitAverageClassifier
from vitgeom.fusion.super_learner import SuperLearnerClassifier


def copied(fitted, *, tensors=None, meta=None):
    back = type(fitted)()
    back.classes_, back.widths_ = fitted.classes_, fitted.widths_
    back._restore(fitted.tensors() if tensors is None else tensors, fitted.meta() if meta is None else meta)
    return back


def test_tensors_and_meta_are_all_there_is():
    fitted, (x, _) = SuperLearnerClassifier().fit_evidence(evidence()), part(TEST)
    back = copied(fitted)
    np.testing.assert_array_equal(back.predict_log_proba(x), fitted.predict_log_proba(x))
    assert back.summary() == fitted.summary()


def test_the_summary_is_plain_json_and_short():
    summary = SuperLearnerClassifier().fit_evidence(evidence()).summary()
    assert json.loads(json.dumps(summary)) == summary
    assert set(summary) == {"layers", "weight", "gap"}
    assert summary["layers"] == list(range(NUM_LAYERS))


def test_parts_of_another_class_are_refused():
    fitted = LogitAverageClassifier().fit_evidence(evidence())
    with pytest.raises(InvalidInput, match="unknown \\['extra'\\]"):
        copied(fitted, tensors={**fitted.tensors(), "extra": torch.zeros(1)})
    rest = {name: part for name, part in fitted.tensors().items() if name != "temperature_"}
    with pytest.raises(InvalidInput, match="missing \\['temperature_'\\]"):
        copied(fitted, tensors=rest)
    with pytest.raises(InvalidInput, match="meta must hold exactly \\['layers'\\]"):
        copied(fitted, meta={**fitted.meta(), "gap_": 0.0})
