from __future__ import annotations

import torch
from safetensors.torch import load, save

from tests.support.layered_features import layered_features
from vitgeom.fusion import EvidenceSettings, gather_evidence
from vitgeom.fusion.evidence_tensors import evidence_from_tensors, evidence_tensors
from vitgeom.fusion.vfusion import VFusionClassifier

X, Y = layered_features(90, 3, 6, 3)
X_VAL, Y_VAL = layered_features(40, 3, 6, 3, seed=1)
SETTINGS = EvidenceSettings(l2=(0.01, 0.1))


def test_evidence_comes_back_from_its_file_to_the_last_bit(monkeypatch):
    first = gather_evidence(X, Y, X_VAL, Y_VAL, settings=SETTINGS)
    tensors = load(save(evidence_tensors(first, layers=(0, 1, 2))))
    second = evidence_from_tensors(tensors, data=first.data, settings=SETTINGS)
    # Nothing may be fitted again.
    monkeypatch.setattr("vitgeom.fusion.evidence.probe_layer", None)
    monkeypatch.setattr("vitgeom.fusion.evidence.fit_layer", None)
    for layer in range(3):
        assert torch.equal(second.held_out(layer), first.held_out(layer))
        assert torch.equal(second.val_logits(layer), first.val_logits(layer))
        assert second.probe(layer).chosen == first.probe(layer).chosen
        assert second.probe(layer).final_grad_norm == first.probe(layer).final_grad_norm
        assert second.probe(layer).final_converged is first.probe(layer).final_converged

    def fitted(evidence):
        return VFusionClassifier(layer_scaling="none", hidden_dim=4, max_epochs=2).fit_evidence(evidence)

    assert fitted(second).summary() == fitted(first).summary()


def test_layers_that_were_left_out_are_computed_when_asked_for():
    first = gather_evidence(X, Y, X_VAL, Y_VAL, settings=SETTINGS)
    second = evidence_from_tensors(evidence_tensors(first, layers=(2,)), data=first.data, settings=SETTINGS)
    torch.testing.assert_close(second.held_out(0), first.held_out(0))
