"""What fused methods start from: the probe of each layer, and what it says of rows that it has not seen.

n = training rows, m = validation rows, L = layers, D = width, K = classes, V = folds.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property
from types import TracebackType
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import torch
from jaxtyping import Float, Float32, Float64, Int64
from torch import Tensor

from vitgeom.errors import InvalidInput
from vitgeom.fusion.fit_data import FitData, fit_data
from vitgeom.fusion.folds import stratified_folds
from vitgeom.fusion.probe_outcomes import layer_outcome, logit_blocks
from vitgeom.fusion.quality import summed_log_loss
from vitgeom.fusion.staged_rows import blocks, release, staged
from vitgeom.probes import L2_GRID, Labels, LayerProbes, fit_layer
from vitgeom.probes.byte_budget import default_byte_budget
from vitgeom.probes.fold_weights import fold_weights
from vitgeom.probes.layer_fit import LayerFit
from vitgeom.probes.layers import Features, RowSource
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET
from vitgeom.probes.probe_layer import FitSettings, LayerOutcome, probe_layer
from vitgeom.probes.row_file import RowFile, Rows
from vitgeom.probes.staged_layer import staged_layer
from vitgeom.seeding import generator_for

Shared = TypeVar("Shared")


@runtime_checkable
class HoldsFiles(Protocol):
    """What takes disk space until it is told to give it back."""

    def release(self) -> None:
        """Give back the disk space; what lay there cannot be read any more."""
        ...


@dataclass(frozen=True, eq=False)
class EvidenceSettings:
    """How probes and held-out logits are made.

    Attributes:
        l2: Strengths that validation chooses from, per layer.
        num_folds: V.
        tol: Relative gradient norm of the probes.
        fold_tol: The same for the refits per fold, whose logits are only inputs of another fit.
        seed: Decides the folds.
        byte_budget: Memory to aim for; layers, logits and whatever else has a row per sample lie in temporary files where they
            would take too much of it. If None, 1 GiB for features that are in memory anyway or can only be read a whole layer
            at a time, 256 MiB for those that are read by rows.
    """

    l2: tuple[float, ...] = L2_GRID
    num_folds: int = 5
    tol: float = 1e-6
    fold_tol: float = 1e-4
    seed: int = 0
    byte_budget: int | None = None


@dataclass(eq=False)
class Evidence:
    """Probes and held-out logits of each layer, computed when first asked for and shared by all methods.

    Logits that lie in temporary files are given back by :meth:`close`, or when this object is collected.

    Attributes:
        data: The rows.
        settings: How.
        byte_budget: Memory to aim for.
    """

    data: FitData
    settings: EvidenceSettings
    byte_budget: int = DEFAULT_BYTE_BUDGET
    _probes: dict[int, LayerOutcome] = field(default_factory=dict, repr=False)
    _held_out: dict[int, Tensor | RowFile] = field(default_factory=dict, repr=False)
    _val_logits: dict[int, Tensor | RowFile] = field(default_factory=dict, repr=False)
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
            with (
                self._features(self.data.train, layer, name="X") as x,
                self._features(self.data.val, layer, name="X_val") as x_val,
            ):
                self._probes[layer] = probe_layer(
                    x,
                    self.data.target,
                    x_val=x_val,
                    target_val=self.data.val_target,
                    settings=FitSettings(
                        num_classes=self.data.num_classes,
                        l2=torch.tensor(self.settings.l2, dtype=torch.float64),
                        tol=self.settings.tol,
                        max_iter=100,
                        sample_weight=None,
                        byte_budget=self.byte_budget,
                        refit=False,
                    ),
                )
        return self._probes[layer]

    def held_out(self, layer: int) -> Float32[Tensor, "n K"] | RowFile:
        """Return each training row's logits by a probe of the chosen strength that was fitted without the row's fold.

        The folds share the standardisation of all training rows, which holds no label. A class without training members
        outside a fold ends with a very small, finite probability there.
        """
        if layer not in self._held_out:
            self._held_out[layer] = self._refitted(layer)
        return self._held_out[layer]

    def val_logits(self, layer: int) -> Float32[Tensor, "m K"] | RowFile:
        """Return the validation rows' logits by the layer's probe."""
        if layer not in self._val_logits:
            probe = self.probe(layer)
            parts = logit_blocks(probe, self.data.val, layer, byte_budget=self.byte_budget)
            self._val_logits[layer] = self._logits(parts, num_rows=self.data.val.num_rows)
        return self._val_logits[layer]

    def held_out_loss(self, layers: Sequence[int]) -> Float64[Tensor, " S"]:
        """Return ce_l: the log-loss of the held-out logits of some layers, in nats."""
        target = self.data.target
        losses = []
        for layer in layers:
            parts = blocks(self.held_out(layer))
            sums = [summed_log_loss(block[:, None], target[where])[0] for where, block in parts]
            losses.append(torch.stack(sums).sum())
        return torch.stack(losses) / len(target)

    def know(self, probes: LayerProbes) -> None:
        """Take probes that were fitted before on these rows, with these strengths and this tolerance, instead of fitting them again.

        Args:
            probes: From :func:`vitgeom.probes.fit_probes` on the same training and validation rows, not refitted on both.

        Raises:
            InvalidInput: They are of other classes, layers or strengths, or were refitted on validation rows.
        """
        if probes.num_layers != self.data.train.num_layers:
            raise InvalidInput(
                f"probes must be those of these rows with {self.data.train.num_layers} layers, got {probes.num_layers} layers; "
                "leave them out to have them fitted."
            )
        for layer in range(probes.num_layers):
            self.know_layer(layer, probes, number=layer)

    def know_layer(self, layer: int, probes: LayerProbes, *, number: int) -> None:
        """Take the probe of one layer; see :meth:`know`.

        Args:
            layer: Which layer of these rows it is of, from 0.
            probes: Fitted on that layer, and on others maybe.
            number: Which of them it is, from 0.

        Raises:
            InvalidInput: They are of other classes or strengths, or were refitted on validation rows.
        """
        given = tuple(probes.l2_grid.tolist())
        if probes.refit or given != self.settings.l2 or not np.array_equal(probes.classes, self.data.classes):
            raise InvalidInput(
                f"probes must be those of these rows with strengths {list(self.settings.l2)}, not refitted, got strengths "
                f"{list(given)}, refit={probes.refit}, classes {probes.classes.tolist()[:20]}; leave them out to have them fitted."
            )
        self._probes[layer] = layer_outcome(probes, number)

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
        """Return what methods have in common, made when first asked for and released by :meth:`close` if it :class:`HoldsFiles`.

        Args:
            key: What it is, with everything that it depends on beside this evidence.
            make: Called once per key.
        """
        if key not in self._shared:
            self._shared[key] = make()
        found: Shared = self._shared[key]
        return found

    def close(self) -> None:
        """Give back the disk space of logits and of what methods share; they are computed anew if they are asked for again."""
        for held in (self._held_out, self._val_logits):
            release(*held.values())
            held.clear()
        for one in self._shared.values():
            if isinstance(one, HoldsFiles):
                one.release()
        self._shared.clear()

    def __enter__(self) -> Evidence:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _features(self, source: RowSource, layer: int, *, name: str) -> AbstractContextManager[Rows]:
        return staged_layer(
            source,
            layer,
            name=name,
            rows=source.num_rows,
            num_classes=self.data.num_classes,
            byte_budget=self.byte_budget,
        )

    def _logits(self, parts: Iterator[Tensor], *, num_rows: int) -> Tensor | RowFile:
        """Keep the logits of one layer; those of all layers together must fit."""
        return staged(
            parts,
            num_rows=num_rows,
            width=self.data.num_classes,
            byte_budget=self.byte_budget // self.data.train.num_layers,
        )

    def _refitted(self, layer: int) -> Float32[Tensor, "n K"] | RowFile:
        probe = self.probe(layer)
        folds = int(self.fold.max()) + 1
        table = 1.0 - torch.eye(folds, dtype=torch.float64)
        with self._features(self.data.train, layer, name="X") as x:
            fit = fit_layer(
                x,
                self.data.target,
                num_classes=self.data.num_classes,
                l2=torch.full((folds,), self.settings.l2[probe.chosen], dtype=torch.float64),
                tol=self.settings.fold_tol,
                sample_weight=fold_weights(self.fold, table=table),
                byte_budget=self.byte_budget,
            )
            parts = (self._left_out(fit, block, self.fold[where]) for where, block in blocks(x))
            return self._logits(parts, num_rows=len(x))

    def _left_out(
        self, fit: LayerFit, x: Float[Tensor, "b D"], fold: Int64[Tensor, " b"]
    ) -> Float32[Tensor, "b K"]:
        """Return each row's logits by the problem that left its fold out."""
        out = torch.empty(len(x), self.data.num_classes)
        for one in fold.unique().tolist():
            held = fold == one
            out[held] = fit.logits(x[held], problem=one).float()
        return out


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
        InvalidInput: See :func:`vitgeom.fusion.fit_data.fit_data`, or a ``byte_budget`` that is no positive integer.
    """
    data = fit_data(X, y, X_val, y_val, val_fraction=val_fraction, seed=seed)
    settings = settings or EvidenceSettings(seed=seed)
    given = settings.byte_budget
    return Evidence(data, settings, default_byte_budget(X) if given is None else _checked_budget(given))


def _checked_budget(byte_budget: int) -> int:
    if not isinstance(byte_budget, int) or isinstance(byte_budget, bool) or byte_budget < 1:
        raise InvalidInput(
            f"byte_budget must be a whole number of bytes >= 1, got {byte_budget!r}; None leaves the choice to where the features lie."
        )
    return byte_budget
