"""The results of one dataset × backbone as the report needs them: checked, frozen, layers counted from 1.

Intervals are 95 %; one with ``low == value == high`` has no spread.
"""

from __future__ import annotations

from dataclasses import dataclass

from vitgeom.bootstrap import Interval
from vitgeom.errors import InvalidInput
from vitgeom.recoverability.corrections import Corrections
from vitgeom.recoverability.diversity import Diversity
from vitgeom.recoverability.geometric_disagreement import GeometricDisagreement


@dataclass(frozen=True)
class Layer:
    """One layer and its probe.

    Attributes:
        layer: Counted from 1.
        accuracy: Share of test samples.
        accuracy_per_class: Mean over the classes of the share within the class.
        recoverability: R_l, share of the last layer's errors; None for the last layer and where there are no errors.
        val_accuracy: Share of validation samples.
        val_loss: Mean cross-entropy on the validation split, nats.
        l2: The strength that validation chose.
        grad_norm: Relative norm of the objective's gradient where the solver stopped.
        converged: The gradient norm reached the tolerance.
    """

    layer: int
    accuracy: Interval
    accuracy_per_class: Interval
    recoverability: Interval | None
    val_accuracy: float
    val_loss: float
    l2: float
    grad_norm: float
    converged: bool


@dataclass(frozen=True)
class Combination:
    """One dataset × backbone that finished.

    Attributes:
        dataset: Label of the dataset.
        backbone: Label of the backbone.
        counts: Samples by split.
        num_classes: K.
        layers: Layer 1 to L.
        best_layer: Counted from 1; chosen on the validation split.
        errors: Test samples that the last layer gets wrong.
        r_any: Share of these that some earlier layer gets right; None without errors or with one layer.
        floor_uniform: R_any of uniform guessing.
        floor_permutation: R_any of each layer's predictions shuffled inside the errors.
        refit_control: R_any of as many last-layer probes refitted on bootstrap resamples.
        oracle: Share of test samples that at least one layer gets right.
        gain: Test accuracy of the best layer minus that of the last one, paired.
        mcnemar_p: Exact two-sided p-value of "best and last layer are right equally often".
        gap: Oracle minus test accuracy of the best layer.
        refits_unconverged: Probes of the refit control that did not reach the tolerance.
        corrections: Who corrects the last layer, credit divided evenly; None without any correction.
        geometry: How far the logits of earlier layers point away from the last layer's over the errors; None where there is no R_any.
        diversity: How differently the layers err over all test samples; None with one layer.
        manifest_digest: Digest of the layer features that all this was computed from.
    """

    dataset: str
    backbone: str
    counts: tuple[tuple[str, int], ...]
    num_classes: int
    layers: tuple[Layer, ...]
    best_layer: int
    errors: int
    r_any: Interval | None
    floor_uniform: Interval | None
    floor_permutation: Interval | None
    refit_control: Interval | None
    oracle: Interval
    gain: Interval
    mcnemar_p: float
    gap: Interval
    refits_unconverged: int
    corrections: Corrections | None
    geometry: GeometricDisagreement | None
    diversity: Diversity | None
    manifest_digest: str

    def __post_init__(self) -> None:
        if [layer.layer for layer in self.layers] != list(range(1, len(self.layers) + 1)) or not self.layers:
            raise InvalidInput(
                f"{self.label} must have layers 1 to L, got {[layer.layer for layer in self.layers]}."
            )
        if not 1 <= self.best_layer <= self.num_layers:
            raise InvalidInput(
                f"best_layer of {self.label} must be 1..{self.num_layers}, got {self.best_layer}."
            )

    @property
    def label(self) -> str:
        """How the pair is called on the page."""
        return f"{self.dataset} × {self.backbone}"

    @property
    def num_layers(self) -> int:
        """L."""
        return len(self.layers)

    @property
    def num_test(self) -> int:
        """How many test samples every share refers to."""
        return dict(self.counts)["test"]

    @property
    def best(self) -> Layer:
        """The layer that validation chose."""
        return self.layers[self.best_layer - 1]


@dataclass(frozen=True)
class Failure:
    """One dataset × backbone that did not finish, and why."""

    dataset: str
    backbone: str
    reason: str

    @property
    def label(self) -> str:
        """How the pair is called on the page."""
        return f"{self.dataset} × {self.backbone}"
