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


def test_several_seeds_together_are_the_seeds_alone():
    x, _ = part(TEST)
    several = BestLayerHeadClassifier(hidden_dim=8).fit_evidence_seeds([0, 7], evidence())
    assert [one.seed for one in several] == [0, 7]
    for one in several:
        alone = BestLayerHeadClassifier(hidden_dim=8, seed=one.seed).fit_evidence(evidence())
        assert one.layer_ == alone.layer_
        np.testing.assert_allclose(one.predict_log_proba(x), alone.predict_log_proba(x), atol=1e-4)


def test_no_seed_at_all_is_refused():
    with pytest.raises(InvalidInput, match="seeds must name at least 1 seed"):
        BestLayerHeadClassifier().fit_evidence_seeds([], evidence())
