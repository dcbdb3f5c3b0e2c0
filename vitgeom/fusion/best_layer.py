"""The probe of the layer that validation likes best.   L = layers."""

from __future__ import annotations

import torch

from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.last_layer import SingleLayerClassifier
from vitgeom.probes.selection import choose_layer


class BestLayerClassifier(SingleLayerClassifier):
    """Softmax regression on the layer with the best validation accuracy, ties by log-loss."""

    def _layer(self, evidence: Evidence) -> int:
        return best_layer(evidence)


def best_layer(evidence: Evidence) -> int:
    """Return the layer (from 0) whose probe has the best validation accuracy; ties go to the lower log-loss.

    Args:
        evidence: Probes of all layers.

    Raises:
        NumericalFailure: No layer's probe converged.
    """
    probes = [evidence.probe(layer) for layer in range(evidence.data.train.num_layers)]
    return choose_layer(
        accuracy=torch.stack([probe.val_accuracy[probe.chosen] for probe in probes]),
        loss=torch.stack([probe.val_loss[probe.chosen] for probe in probes]),
        converged=torch.tensor([probe.final_converged for probe in probes]),
    )
