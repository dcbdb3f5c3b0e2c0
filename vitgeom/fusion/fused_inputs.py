"""What VFusion's encoder sees of a row, and where its training starts.

u = (logits of the linear stage, scores of every layer's probe, principal coordinates of the scaled concatenation), the three groups
brought to equal total variance. All of it is linear in the standardised layers.

n = rows, S = layers, W = width of the concatenation, r = coordinates, q = S K, K = classes, p = K + q + r inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import torch
from jaxtyping import Float32, Float64
from torch import Tensor

from vitgeom.fusion.decorrelated import NULL_SHARE, Factors, decorrelated_factors
from vitgeom.fusion.evidence import Evidence
from vitgeom.fusion.linear_stage import LinearStage, fit_linear_stage
from vitgeom.fusion.moments import covariance, variance
from vitgeom.fusion.readouts import side_by_side
from vitgeom.fusion.scaled_rows import ScaledRows
from vitgeom.fusion.staged_rows import mapped, release, staged
from vitgeom.probes.layers import RowSource
from vitgeom.probes.row_file import RowFile
from vitgeom.probes.standardise import Standardiser

MOST_READOUTS = 1024
"""Beyond this many scores the encoder sees the linear stage's logits and the coordinates alone."""


@dataclass(frozen=True, eq=False)
class FusedInputs:
    """The fixed linear maps in front of the encoder.

    Attributes:
        layers: Chosen layers, 0-based.
        mean: Of the chosen layers' features, side by side.
        std: Likewise.
        scale: s of each chosen layer.
        readout: Coefficients of the layers' probes on standardised features, one below the other.
        readout_bias: Their intercepts.
        axes: Principal axes of the scaled concatenation.
        discriminant: Coefficients on the coordinates, calibrated.
        base: Linear stage: readouts and discriminant scores to logits.
        base_bias: Its bias.
        gain: Factor of each input.
        widths: Width of each chosen layer.
        with_readouts: Whether the encoder sees the readouts themselves.
        summary: What was chosen, as plain JSON.
    """

    layers: tuple[int, ...]
    mean: Float64[Tensor, " W"]
    std: Float64[Tensor, " W"]
    scale: Float64[Tensor, " S"]
    readout: Float32[Tensor, "W K"]
    readout_bias: Float32[Tensor, "S K"]
    axes: Float32[Tensor, "W r"]
    discriminant: Float32[Tensor, "r K"]
    base: Float32[Tensor, "qK K"]
    base_bias: Float32[Tensor, " K"]
    gain: Float32[Tensor, " p"]
    widths: tuple[int, ...]
    with_readouts: bool
    summary: Mapping[str, Any] = field(default_factory=dict)

    def blocks(self, source: RowSource) -> Iterator[Float32[Tensor, "b p"]]:
        """Yield u of all rows of a source, a block at a time."""
        for _, v in self._rows(source).blocks():
            scores = self._scores(v)
            coordinates = v @ self.axes
            parts = torch.cat([scores, side_by_side([coordinates @ self.discriminant])], dim=1)
            yield self.assemble(parts, coordinates)

    def assemble(
        self, scores: Float32[Tensor, "b qK"], coordinates: Float32[Tensor, "b r"]
    ) -> Float32[Tensor, "b p"]:
        """Return u from readouts with discriminant scores, and coordinates."""
        return raw_inputs(
            scores,
            coordinates,
            base=self.base,
            with_readouts=self.with_readouts,
        ).mul_(self.gain)

    def num_parameters(self) -> int:
        """Return how many weights a row is multiplied with before the encoder."""
        return sum(tensor.numel() for tensor in (self.readout, self.axes, self.discriminant, self.base))

    def tensors(self) -> dict[str, Tensor]:
        """Return every array by name."""
        return {name: getattr(self, name).contiguous() for name in _TENSORS}

    @classmethod
    def from_tensors(
        cls, tensors: Mapping[str, Tensor], *, layers: Sequence[int], widths: Sequence[int]
    ) -> FusedInputs:
        """Rebuild from :meth:`tensors`.

        Args:
            tensors: Arrays by name.
            layers: Chosen layers.
            widths: Width of every layer of the backbone.
        """
        num_classes = tensors["base"].shape[1]
        seen = len(tensors["gain"]) - num_classes - tensors["axes"].shape[1]
        return cls(
            layers=tuple(layers),
            widths=tuple(widths[layer] for layer in layers),
            with_readouts=seen > 0,
            summary={},
            **{name: tensors[name] for name in _TENSORS},
        )

    def _rows(self, source: RowSource) -> ScaledRows:
        standardisers = [
            Standardiser(mean, std)
            for mean, std in zip(self.mean.split(self.widths), self.std.split(self.widths), strict=True)
        ]
        return ScaledRows(source, self.layers, standardisers, self.scale)

    def _scores(self, v: Float32[Tensor, "b W"]) -> Float32[Tensor, "b q"]:
        """Return every layer's readout; the scale is taken out again."""
        parts = []
        for place, (block, weight) in enumerate(
            zip(v.split(self.widths, dim=1), self.readout.split(self.widths), strict=True)
        ):
            scale = float(self.scale[place])
            # A layer that is scaled to nothing has lost its digits; its readout is worth as little.
            inner = weight / scale if scale > SMALLEST_SCALE else torch.zeros_like(weight)
            parts.append(block @ inner + self.readout_bias[place])
        return side_by_side(parts)


_TENSORS = (
    "mean",
    "std",
    "scale",
    "readout",
    "readout_bias",
    "axes",
    "discriminant",
    "base",
    "base_bias",
    "gain",
)
SMALLEST_SCALE = 1e-30


def raw_inputs(
    scores: Float32[Tensor, "b qK"],
    coordinates: Float32[Tensor, "b r"],
    *,
    base: Float32[Tensor, "qK K"],
    with_readouts: bool,
) -> Float32[Tensor, "b p"]:
    """Return u before its gain: logits of the linear stage without bias, readouts if wanted, coordinates."""
    logits = side_by_side([scores @ base])
    return torch.cat([logits, scores, coordinates] if with_readouts else [logits, coordinates], dim=1)


@dataclass(frozen=True, eq=False)
class Start:
    """Inputs of training and validation rows, and the linear stage as a classifier on them.

    Attributes:
        inputs: The maps.
        train: u of the training rows, from held-out scores; in memory or in a file.
        val: u of the validation rows, likewise.
        weight: The linear stage on u.
        bias: Its bias.
        covariance: Of u over the training rows.
    """

    inputs: FusedInputs
    train: Float32[Tensor, "n p"] | RowFile
    val: Float32[Tensor, "m p"] | RowFile
    weight: Float64[Tensor, "p K"]
    bias: Float64[Tensor, " K"]
    covariance: Float64[Tensor, "p p"]

    @property
    def rank(self) -> int:
        """Independent directions of the inputs over the training rows."""
        variances = torch.linalg.eigvalsh(self.covariance)
        return int((variances > NULL_SHARE * variances[-1]).sum())

    def factors(self, latent_dim: int) -> Factors:
        """Return the linear stage as encoder and head with uncorrelated latents."""
        return decorrelated_factors(self.weight, self.covariance, latent_dim=latent_dim)

    def release(self) -> None:
        """Give back the disk space of what lies in files."""
        release(self.train, self.val)


def start_of_training(
    evidence: Evidence,
    layers: Sequence[int],
    *,
    temperatures: Sequence[float],
    components: int,
    seed: int,
) -> Start:
    """Fit the linear stage and express it on the encoder's inputs.

    Args:
        evidence: Rows, probes and held-out logits.
        layers: The chosen layers.
        temperatures: T to try.
        components: Most principal axes.
        seed: For the sketch of the axes.
    """
    stage = fit_linear_stage(evidence, layers, temperatures=temperatures, components=components, seed=seed)
    weight, bias = stage.weights()
    with_readouts = len(layers) * weight.shape[1] <= MOST_READOUTS
    raw = _raw_training_inputs(
        stage, [evidence.held_out(layer) for layer in layers], weight, with_readouts, evidence.byte_budget
    )
    # Held-out scores are not exactly centred; the head's bias takes the difference.
    num_coordinates = stage.view.train.shape[1]
    groups = [
        weight.shape[1],
        *([len(weight)] if with_readouts else []),
        num_coordinates,
    ]
    stage.view.release()
    gain = _gains(raw, groups)
    inputs = _maps(stage, weight, bias, gain=gain, with_readouts=with_readouts, layers=layers)
    train = mapped(gain.mul, raw, width=len(gain), byte_budget=evidence.byte_budget)
    release(raw)
    val = staged(
        inputs.blocks(evidence.data.val),
        num_rows=evidence.data.val.num_rows,
        width=len(gain),
        byte_budget=evidence.byte_budget,
    )
    linear = torch.zeros(train.shape[1], weight.shape[1], dtype=torch.float64)
    linear[: weight.shape[1]] = torch.eye(weight.shape[1], dtype=torch.float64) / float(gain[0])
    return Start(
        inputs,
        train,
        val,
        linear - linear.mean(dim=1, keepdim=True),
        bias - bias.mean(),
        covariance(train),
    )


def _raw_training_inputs(
    stage: LinearStage,
    held_out: Sequence[Tensor | RowFile],
    weight: Float64[Tensor, "qK K"],
    with_readouts: bool,
    byte_budget: int,
) -> Tensor | RowFile:
    """Return u of the training rows before its gain, from the layers' held-out logits."""
    view, base = stage.view, weight.float()

    def raw(*parts: Tensor) -> Tensor:
        *logits, scores, coordinates = parts
        readouts = stage.inputs(side_by_side(logits), scores)
        return raw_inputs(readouts, coordinates, base=base, with_readouts=with_readouts)

    width = weight.shape[1] + (len(weight) if with_readouts else 0) + view.train.shape[1]
    return mapped(raw, *held_out, view.held_out, view.train, width=width, byte_budget=byte_budget)


def _gains(raw: Float32[Tensor, "n p"] | RowFile, groups: Sequence[int]) -> Float32[Tensor, " p"]:
    """Return one factor per input that gives each group the same share of a total variance of 1."""
    gains = []
    for group in variance(raw).split(list(groups)):
        total = float(group.sum())
        gain = (1.0 / (len(groups) * total)) ** 0.5 if total > 0 else 1.0
        gains.append(torch.full((len(group),), gain))
    return torch.cat(gains)


def _maps(
    stage: LinearStage,
    weight: Float64[Tensor, "qK K"],
    bias: Float64[Tensor, " K"],
    *,
    gain: Float32[Tensor, " p"],
    with_readouts: bool,
    layers: Sequence[int],
) -> FusedInputs:
    """Collect the fixed maps of a linear stage."""
    view, readouts = stage.view, stage.readouts
    return FusedInputs(
        layers=tuple(layers),
        mean=torch.cat([one.mean for one in readouts.standardisers]),
        std=torch.cat([one.std for one in readouts.standardisers]),
        scale=view.rows.scale,
        readout=torch.cat(list(readouts.weight)).float(),
        readout_bias=readouts.bias.float(),
        axes=view.axes.directions,
        discriminant=(view.scale * view.discriminant.weight).float(),
        base=weight.float(),
        base_bias=bias.float(),
        gain=gain,
        widths=tuple(len(one.mean) for one in readouts.standardisers),
        with_readouts=with_readouts,
        summary={
            "layers": list(layers),
            "temperature": view.temperature,
            "ridge": view.discriminant.ridge,
            "variance_captured": view.axes.captured,
            "l2_of_combination": stage.l2,
            "share_of_combination": stage.share,
        },
    )
