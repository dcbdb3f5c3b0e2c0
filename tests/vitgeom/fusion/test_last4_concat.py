from __future__ import annotations

import numpy as np
import pytest

from tests.support.layered_features import layered_features
from vitgeom.fusion.all_layer_concat import AllLayerConcatClassifier
from vitgeom.fusion.last4_concat import Last4ConcatClassifier


@pytest.mark.parametrize("layers", [2, 6])
def test_it_is_the_concatenation_of_the_last_four(layers):
    x, y = layered_features(80, layers, 5, 3, strength=1.0)
    fitted = Last4ConcatClassifier(l2=(0.1,)).fit(x[:50], y[:50], x[50:], y[50:])
    last = x[:, -4:]
    same = AllLayerConcatClassifier(l2=(0.1,)).fit(last[:50], y[:50], last[50:], y[50:])
    np.testing.assert_allclose(fitted.predict_log_proba(x), same.predict_log_proba(last), atol=1e-5)
    assert fitted.maps_.layers == tuple(range(max(0, layers - 4), layers))
