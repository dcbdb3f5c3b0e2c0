from __future__ import annotations

import pytest

from tests.contracts.fused_method import quick, shaped
from tests.support.fusion_data import NUM_CLASSES, TEST, TRAIN, WIDTH, evidence, part
from vitgeom.errors import InvalidInput
from vitgeom.fusion.cost import MethodCost, measure_cost
from vitgeom.fusion.last_layer import LastLayerClassifier
from vitgeom.fusion.methods import METHODS


@pytest.mark.parametrize("name", list(METHODS))
def test_every_method_has_a_cost(name):
    entry = METHODS[name]
    made, (x, y) = quick(entry), part(TRAIN)
    fitted = made.fit(shaped(entry, x), y) if entry.several_backbones else made.fit_evidence(evidence())
    given = shaped(entry, part(TEST)[0])
    passes = len(given) if entry.several_backbones else 1
    cost = measure_cost(fitted, given, name=name, backbone_passes=passes, batch_size=64, calls=3)
    assert cost.parameters > 0
    assert cost.flops_per_image >= cost.parameters
    assert cost.seconds_per_image > 0
    assert (cost.name, cost.batch_size, cost.calls, cost.backbone_passes) == (name, 64, 3, passes)
    assert MethodCost.from_json(cost.to_json()) == cost


def test_a_probe_costs_what_one_counts_by_hand():
    cost = measure_cost(LastLayerClassifier().fit_evidence(evidence()), part(TEST)[0], name="last", calls=1)
    assert cost.parameters == (WIDTH + 1) * NUM_CLASSES
    assert cost.flops_per_image == 2 * WIDTH + 2 * WIDTH * NUM_CLASSES + NUM_CLASSES


def test_fewer_rows_than_a_batch_are_all_taken():
    x, _ = part(TEST)
    cost = measure_cost(LastLayerClassifier().fit_evidence(evidence()), x[:10], name="last", calls=1)
    assert cost.batch_size == 10


def test_what_cannot_be_measured_is_refused():
    fitted, (x, _) = LastLayerClassifier().fit_evidence(evidence()), part(TEST)
    for argument in ("batch_size", "calls", "backbone_passes"):
        with pytest.raises(InvalidInput, match=f"{argument} must be >= 1, got 0"):
            measure_cost(fitted, x, name="last", **{argument: 0})
    with pytest.raises(InvalidInput, match="the 3 layers of training, got 2"):
        measure_cost(fitted, x[:, :2], name="last")
    with pytest.raises(InvalidInput, match="missing \\['calls'\\]"):
        MethodCost.from_json({k: v for k, v in _plain().items() if k != "calls"})


def _plain() -> dict[str, object]:
    return MethodCost("last", 1, 1, 1, 1.0, 1, 1).to_json()
