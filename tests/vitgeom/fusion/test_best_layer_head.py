from __future__ import annotations

import numpy as np
import pytest

from tests.support.fusion_data import TEST, evidence, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion.best_layer import best_layer
from vitgeom.fusion.best_layer_head import BestLayerHeadClassifier
from vitgeom.fusion.vfusion import VFusionClassifier


def test_it_is_vfusion_on_the_best_layer():
    x, _ = part(TEST)
    fitted = BestLayerHeadClassifier(hidden_dim=8).fit_evidence(evidence())
    layer = best_layer(evidence())
    same = VFusionClassifier(selection=[layer], hidden_dim=8).fit_evidence(evidence())
    np.testing.assert_array_equal(fitted.predict_log_proba(x), same.predict_log_proba(x))
    assert fitted.layer_ == layer
    assert fitted.num_parameters() == same.num_parameters()
    other = x.clone()
    other[:, [one for one in range(3) if one != layer]] = 0
    np.testing.assert_array_equal(fitted.predict_log_proba(other), fitted.predict_log_proba(x))


def test_parts_of_another_class_are_refused():
    fitted = BestLayerHeadClassifier(hidden_dim=8).fit_evidence(evidence())
    with pytest.raises(InvalidInput, match="meta must hold layer and head"):
        fitted._restore(fitted.tensors(), {"layers": [0]})
