"""What fused methods start from: the probe of each layer, and what it says of rows that it has not seen.

n = training rows, m = validation rows, L = layers, D = width, K = classes, V = folds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.fit_data import FitData, all_rows, fit_data
from vitgeom.fusion.folds import stratified_folds
from vitgeom.probes import L2_GRID, Labels, LayerProbes, fit_layer
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET
from vitgeom.probes.probe_layer import FitSettings, LayerOutcome, probe_layer
from vitgeom.probes.standardise import Standardiser
from vitgeom.seeding import generator_for

Shared = TypeVar("Shared")


@dataclass(frozen=True, eq=False)
class EvidenceSettings:
    """How probes and held-out logits are made.

    Attributes:
        l2: Strengths that validation chooses from, per layer.
        num_folds: V.
        tol: Relative gradient norm of the probes.
        fold_tol: The same for the refits per fold, whose logits are only inputs of another fit.
        seed: Decides the folds.
    """

    l2: tuple[float, ...] = L2_GRID
    num_folds: int = 5
    tol: float = 1e-6
    fold_tol: float = 1e-4
    seed: int = 0


@dataclass(eq=False)
class Evidence:
    """Probes and held-out logits of each layer, computed when first asked for and shared by all methods.

    Attributes:
        data: The rows.
        settings: How.
    """

    data: FitData
    settings: EvidenceSettings
    _probes: dict[int, LayerOutcome] = field(default_factory=dict, repr=False)
    _held_out: dict[int, Float32[Tensor, "n K"]] = field(default_factory=dict, repr=False)
    _val_logits: dict[int, Float32[Tensor, "m K"]] = field(default_factory=dict, repr=False)
    _shared: dict[Hashable, Any] = field(default_factory=dict, repr=False)

    @cached_property
    def fold(self) -> Int64[Tensor, " n"]:
        """The fold that each training row is held out in; no more folds than rows."""
        return stratified_folds(
            self.data.target,
            num_folds=min(self.settings.num_folds, len(self.data.target)),
            generator=generator_for(self.settings.seed, "folds"),
        )

    def probe(self, layer: int) -> LayerOutcome:
        """Return the probe of a layer on all training rows, its strength chosen on validation."""
        if layer not in self._probes:
            self._probes[layer] = probe_layer(
                all_rows(self.data.train, layer, name="X"),
                self.data.target,
                x_val=all_rows(self.data.val, layer, name="X_val"),
                target_val=self.data.val_target,
                settings=FitSettings(
                    num_classes=self.data.num_classes,
                    l2=torch.tensor(self.settings.l2, dtype=torch.float64),
                    tol=self.settings.tol,
                    max_iter=100,
                    sample_weight=None,
                    byte_budget=DEFAULT_BYTE_BUDGET,
                    refit=False,
                ),
            )
        return self._probes[layer]

    def held_out(self, layer: int) -> Float32[Tensor, "n K"]:
        """Return each training row's logits by a probe of the chosen strength that was fitted without the row's fold.

        The folds share the standardisation of all training rows, which holds no label. A class without training members
        outside a fold ends with a very small, finite probability there.
        """
        if layer not in self._held_out:
            self._held_out[layer] = self._refitted(layer)
        return self._held_out[layer]

    def val_logits(self, layer: int) -> Float32[Tensor, "m K"]:
        """Return the validation rows' logits by the layer's probe."""
        if layer not in self._val_logits:
            self._val_logits[layer] = probe_logits(self.probe(layer), self.data.val, layer)
        return self._val_logits[layer]

    def held_out_loss(self, layers: Sequence[int]) -> Float64[Tensor, " S"]:
        """Return ce_l: the log-loss of the held-out logits of some layers, in nats."""
        rows = torch.arange(len(self.data.target))
        losses = []
        for layer in layers:
            log_p = torch.log_softmax(self.held_out(layer).double(), dim=1)
            losses.append(-log_p[rows, self.data.target].mean())
        return torch.stack(losses)

    def know(self, probes: LayerProbes) -> None:
        """Take probes that were fitted before on these rows, with these strengths and this tolerance, instead of fitting them again.

        Args:
            probes: From :func:`vitgeom.probes.fit_probes` on the same training and validation rows, not refitted on both.

        Raises:
            InvalidInput: They are of other classes, layers or strengths, or were refitted on validation rows.
        """
        mine, given = (
            (self.data.train.num_layers, self.settings.l2),
            (probes.num_layers, tuple(probes.l2_grid.tolist())),
        )
        if probes.refit or mine != given or not np.array_equal(probes.classes, self.data.classes):
            raise InvalidInput(
                f"probes must be those of these rows with {mine[0]} layers and strengths {list(mine[1])}, not refitted, got "
                f"{given[0]} layers, strengths {list(given[1])}, refit={probes.refit}, classes {probes.classes.tolist()[:20]}; "
                "leave them out to have them fitted."
            )
        self._probes = {layer: layer_outcome(probes, layer) for layer in range(probes.num_layers)}

    def take_up(
        self,
        layer: int,
        *,
        probe: LayerOutcome,
        held_out: Float32[Tensor, "n K"],
        val_logits: Float32[Tensor, "m K"],
    ) -> None:
        """Use what was computed for a layer before, on the same rows with the same settings."""
        self._probes[layer], self._held_out[layer], self._val_logits[layer] = probe, held_out, val_logits

    def shared(self, key: Hashable, make: Callable[[], Shared]) -> Shared:
        """Return what methods have in common, made when first asked for.

        Args:
            key: What it is, with everything that it depends on beside this evidence.
            make: Called once per key.
        """
        if key not in self._shared:
            self._shared[key] = make()
        found: Shared = self._shared[key]
        return found

    def _refitted(self, layer: int) -> Float32[Tensor, "n K"]:
        probe, x = self.probe(layer), all_rows(self.data.train, layer, name="X")
        folds = int(self.fold.max()) + 1
        strength = self.settings.l2[probe.chosen]
        fit = fit_layer(
            x,
            self.data.target,
            num_classes=self.data.num_classes,
            l2=torch.full((folds,), strength, dtype=torch.float64),
            tol=self.settings.fold_tol,
            sample_weight=torch.stack([(self.fold != one).double() for one in range(folds)], dim=1),
        )
        out = torch.empty(len(x), self.data.num_classes)
        for one in range(folds):
            held = self.fold == one
            out[held] = fit.logits(x[held], problem=one).float()
        return out


def layer_outcome(probes: LayerProbes, layer: int) -> LayerOutcome:
    """Return one layer of fitted probes."""
    return LayerOutcome(
        val_loss=probes.val_loss[layer],
        val_accuracy=probes.val_accuracy[layer],
        objective=probes.objective[layer],
        grad_norm=probes.grad_norm[layer],
        converged=probes.converged[layer],
        iterations=probes.iterations[layer],
        chosen=int(probes.chosen[layer]),
        standardiser=Standardiser(probes.mean[layer], probes.std[layer]),
        weight=probes.weight[layer],
        bias=probes.bias[layer],
        final_grad_norm=float(probes.final_grad_norm[layer]),
        final_converged=bool(probes.final_converged[layer]),
    )


def probe_logits(probe: LayerOutcome, source: RowSource, layer: int) -> Float32[Tensor, "b K"]:
    """Return the logits of a layer's probe on all rows of a source."""
    x = all_rows(source, layer)
    return (probe.standardiser(x) @ probe.weight + probe.bias).float()


def gather_evidence(
    X: Features,
    y: Labels,
    X_val: Features | None = None,
    y_val: Labels | None = None,
    *,
    settings: EvidenceSettings | None = None,
    val_fraction: float = 0.2,
    seed: int = 0,
) -> Evidence:
    """Return evidence that several methods can be fitted on, so that probes and folds are computed once.

    Args:
        X: Training features ``[n, L, D]`` or a source of them.
        y: Labels of any kind.
        X_val: Validation features; None to hold out a stratified part of the training rows.
        y_val: Their labels.
        settings: Strengths, folds and tolerances.
        val_fraction: Share to hold out where there is no ``X_val``.
        seed: Decides what is held out.

    Raises:
        InvalidInput: See :func:`vitgeom.fusion.fit_data.fit_data`.
    """
    data = fit_data(X, y, X_val, y_val, val_fraction=val_fraction, seed=seed)
    return Evidence(data, settings or EvidenceSettings(seed=seed))
