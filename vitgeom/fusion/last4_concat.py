"""Linear classifier on the last four layers side by side."""

from __future__ import annotations

from vitgeom.fusion.concatenation import ConcatenationClassifier


class Last4ConcatClassifier(ConcatenationClassifier):
    """Softmax regression on the last four layers, or on all of a backbone with fewer."""

    def _layers(self, num_layers: int) -> tuple[int, ...]:
        return tuple(range(max(0, num_layers - 4), num_layers))
