"""Linear classifier on all layers side by side."""

from __future__ import annotations

from vitgeom.fusion.concatenation import ConcatenationClassifier


class AllLayerConcatClassifier(ConcatenationClassifier):
    """Softmax regression on all layers; with many layers and few images it may lose to the last layer alone."""

    def _layers(self, num_layers: int) -> tuple[int, ...]:
        return tuple(range(num_layers))
