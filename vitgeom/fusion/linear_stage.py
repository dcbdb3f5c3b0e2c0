"""The linear part of VFusion, found without gradient descent: where joint training starts, and what it must improve on.

Two views of the same layers are combined. The *discriminant* sees the whole concatenation of quality-scaled layers at once; the
*readouts* are the layers' own probes. Both are judged on training rows that they have not seen (leave-one-out, out of fold), so
that the weights of the combination are honest; everything else is chosen by validation log-loss. At prediction time the whole
stage is one linear map of the standardised layers.

n = training rows, m = validation rows, r = coordinates, q = readouts, K = classes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from jaxtyping import Float32, Float64, Int64
from torch import Tensor

from vitgeom.fusion.calibration import best_scale, known_log_loss, log_prior
from vitgeom.fusion.compression import PrincipalAxes, principal_axes
from vitgeom.fusion.discriminant import SHARES, Discriminant, RidgeStatistics
from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.quality import quality_scale
from vitgeom.fusion.readouts import Readouts, side_by_side
from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.fusion.staged_rows import mapped, release
from vitgeom.probes import L2_GRID, fit_layer
from vitgeom.probes.layer_fit import LayerFit
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.selection import choose_strength, validation_scores
from vitgeom.seeding import generator_for

MIXTURES: tuple[float, ...] = (0.0, 0.25, 0.5, 0.75, 1.0)
"""Shares of the combined readouts that are tried against the discriminant alone."""


@dataclass(frozen=True, eq=False)
class View:
    """The discriminant at one temperature and its best strength.

    Attributes:
        temperature: T of the quality scaling.
        rows: The scaled training rows.
        axes: Their principal axes.
        train: Coordinates of the training rows, in memory or in a file.
        val: Coordinates of the validation rows, likewise.
        discriminant: Fitted on the training rows.
        held_out: Its leave-one-out scores, likewise.
        scale: Of its scores, by validation.
        val_loss: Validation log-loss.
    """

    temperature: float
    rows: ScaledRows
    axes: PrincipalAxes
    train: Float32[Tensor, "n r"] | RowFile
    val: Float32[Tensor, "m r"] | RowFile
    discriminant: Discriminant
    held_out: Float64[Tensor, "n K"] | RowFile
    scale: float
    val_loss: float

    def logits(self, scores: Float64[Tensor, "b K"]) -> Float64[Tensor, "b K"]:
        """Return calibrated logits."""
        return log_prior(self.discriminant.prior) + self.scale * scores

    def release(self) -> None:
        """Give back the disk space of what lies in files."""
        release(self.train, self.val, self.held_out)


@dataclass(frozen=True, eq=False)
class LinearStage:
    """What was found.

    Attributes:
        view: The discriminant.
        readouts: The layers' probes.
        combination: Logistic regression on readouts and discriminant scores.
        strength: Which of its strengths.
        share: Of the combination in the mixture; the rest is the discriminant.
        scale: Of the mixture.
        val_loss: Validation log-loss of the mixture.
    """

    view: View
    readouts: Readouts
    combination: LayerFit
    strength: int
    share: float
    scale: float
    val_loss: float

    @property
    def l2(self) -> float:
        """Strength of the combination."""
        return L2_GRID[self.strength]

    def inputs(
        self, scores: Float32[Tensor, "b q"], discriminant: Float64[Tensor, "b K"]
    ) -> Float32[Tensor, "b p"]:
        """Return readouts and discriminant scores side by side: p = q + K inputs of the combination."""
        return torch.cat([scores, side_by_side([self.view.scale * discriminant.float()])], dim=1)

    def weights(self) -> tuple[Float64[Tensor, "p K"], Float64[Tensor, " K"]]:
        """Return the mixture as one linear map of the inputs, and its bias."""
        num_classes = self.combination.bias.shape[1]
        standardiser = self.combination.standardiser
        weight = self.combination.weight[self.strength] / standardiser.std[:, None]
        bias = self.combination.bias[self.strength] - standardiser.mean @ weight
        weight = self.share * weight
        weight[-num_classes:] += (1.0 - self.share) * torch.eye(num_classes, dtype=torch.float64)
        bias = self.share * bias + (1.0 - self.share) * log_prior(self.view.discriminant.prior)
        return self.scale * weight, self.scale * bias


def fit_linear_stage(
    evidence: Evidence,
    layers: Sequence[int],
    *,
    temperatures: Sequence[float],
    components: int,
    seed: int,
) -> LinearStage:
    """Fit both views, combine them on held-out scores, and mix the combination with the discriminant.

    Cost: per temperature three passes over the rows for the axes and one for the coordinates; strengths are in closed form. The
    probes and their folds are those of the evidence.

    Args:
        evidence: Rows, probes and held-out logits.
        layers: The chosen layers.
        temperatures: T to try.
        components: Most principal axes.
        seed: For the sketch of the axes.
    """
    data = evidence.data
    view = _best_view(evidence, layers, temperatures=temperatures, components=components, seed=seed)
    readouts = Readouts.of(evidence, layers)
    budget = evidence.byte_budget
    class_scores = partial(mapped, width=data.num_classes, byte_budget=budget, dtype=torch.float64)
    train = _combination_inputs(
        [evidence.held_out(layer) for layer in layers], view.held_out, scale=view.scale, byte_budget=budget
    )
    combination = fit_layer(
        train,
        data.target,
        num_classes=data.num_classes,
        l2=torch.tensor(L2_GRID, dtype=torch.float64),
        tol=evidence.settings.fold_tol,
        byte_budget=budget,
    )
    release(train)
    val_scores = class_scores(view.discriminant.scores, view.val)
    val = _combination_inputs(
        [evidence.val_logits(layer) for layer in layers], val_scores, scale=view.scale, byte_budget=budget
    )
    losses, _ = validation_scores(combination, val, data.val_target, num_train=len(data.target))
    strength = choose_strength(losses)
    combined, alone = (
        class_scores(partial(combination.logits, problem=strength), val),
        class_scores(view.logits, val_scores),
    )
    share, scale, loss = _best_mixture(combined, alone, data.val_target, byte_budget=budget)
    release(val_scores, val, combined, alone)
    return LinearStage(view, readouts, combination, strength, share, scale, loss)


def _combination_inputs(
    logits: Sequence[Tensor | RowFile], scores: Tensor | RowFile, *, scale: float, byte_budget: int
) -> Tensor | RowFile:
    """Return the layers' logits and the discriminant's scaled scores next to each other, each centred over classes."""

    def beside(*parts: Tensor) -> Tensor:
        return side_by_side([*parts[:-1], (scale * parts[-1]).float()])

    width = (len(logits) + 1) * scores.shape[1]
    return mapped(beside, *logits, scores, width=width, byte_budget=byte_budget)


def _best_view(
    evidence: Evidence, layers: Sequence[int], *, temperatures: Sequence[float], components: int, seed: int
) -> View:
    """Return the temperature and the strength of the least validation log-loss; a single layer has scale 1 at any temperature."""
    quality = evidence.held_out_loss(layers)
    standardisers = [evidence.probe(layer).standardiser for layer in layers]
    plain = ScaledRows(evidence.data.train, tuple(layers), standardisers, torch.ones_like(quality))
    best: View | None = None
    for temperature in temperatures[:1] if len(layers) == 1 else temperatures:
        rows = plain.scaled(quality_scale(quality, temperature=temperature))
        view = _view(evidence, rows, temperature=temperature, components=components, seed=seed)
        if best is not None and not view.val_loss < best.val_loss:
            view.release()
            continue
        if best is not None:
            best.release()
        best = view
    assert best is not None, "there is at least one temperature"
    return best


def _view(evidence: Evidence, rows: ScaledRows, *, temperature: float, components: int, seed: int) -> View:
    """Fit the discriminant at one temperature."""
    data = evidence.data
    axes = principal_axes(rows, components=components, generator=generator_for(seed, "principal axes"))
    budget = evidence.byte_budget
    train, val = (axes.project(some, byte_budget=budget) for some in (rows, rows.of(data.val)))
    statistics = RidgeStatistics.of(
        train, data.target, variances=axes.variances, num_classes=data.num_classes
    )
    total = float(axes.variances.sum()) or 1.0
    offset = log_prior(statistics.prior)
    found = []
    for ridge in [share * total for share in SHARES]:
        scores = mapped(
            statistics.solve(ridge).scores,
            val,
            width=data.num_classes,
            byte_budget=budget,
            dtype=torch.float64,
        )
        found.append((*best_scale(scores, data.val_target, offset=offset), ridge))
        release(scores)
    scale, loss, ridge = min(found, key=lambda entry: (_last_if_nan(entry[1]), -entry[2]))
    return View(
        temperature,
        rows,
        axes,
        train,
        val,
        statistics.solve(ridge),
        statistics.leave_one_out(train, data.target, ridge=ridge, byte_budget=budget),
        scale,
        _last_if_nan(loss),
    )


def _best_mixture(
    combined: Float64[Tensor, "m K"] | RowFile,
    alone: Float64[Tensor, "m K"] | RowFile,
    target: Int64[Tensor, " m"],
    *,
    byte_budget: int,
) -> tuple[float, float, float]:
    """Return share, scale and validation log-loss of the best mixture of two sets of logits."""
    num_classes = combined.shape[1]
    zero = torch.zeros(num_classes, dtype=torch.float64)
    found = []
    for share in MIXTURES:
        mixed = mapped(
            partial(_mixture, share=share),
            combined,
            alone,
            width=num_classes,
            byte_budget=byte_budget,
            dtype=torch.float64,
        )
        scale, loss = best_scale(mixed, target, offset=zero)
        found.append((_last_if_nan(loss), share, scale))
        release(mixed)
    loss, share, scale = min(found)
    if math.isinf(loss):  # no validation row of a known class: nothing to choose by
        return 0.5, 1.0, known_log_loss(combined, target)
    return share, scale, loss


def _mixture(one: Tensor, other: Tensor, *, share: float) -> Tensor:
    return share * one + (1.0 - share) * other


def _last_if_nan(loss: float) -> float:
    return math.inf if math.isnan(loss) else loss
