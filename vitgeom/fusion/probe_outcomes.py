"""The probe of one layer: taken out of fitted probes of all layers, and asked about rows.   b = rows of a block, K = classes."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from jaxtyping import Float32
from torch import Tensor

from vitgeom.fusion.staged_rows import fits, spans
from vitgeom.probes import LayerProbes
from vitgeom.probes.layers import RowSource
from vitgeom.probes.memory import DEFAULT_BYTE_BUDGET
from vitgeom.probes.probe_layer import LayerOutcome
from vitgeom.probes.row_access import read_rows
from vitgeom.probes.standardise import Standardiser


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


def logit_blocks(
    probe: LayerOutcome, source: RowSource, layer: int, *, byte_budget: int = DEFAULT_BYTE_BUDGET
) -> Iterator[Float32[Tensor, "b K"]]:
    """Yield the logits of a layer's probe on consecutive rows of a source: of all at once if they fit in float64."""
    num_rows, width = source.num_rows, len(probe.weight)
    whole = fits(num_rows, width, byte_budget=byte_budget, dtype=torch.float64)
    for where in [slice(0, num_rows)] if whole else spans(num_rows, width):
        x = read_rows(source, layer, where.start, where.stop, name="X")
        yield (probe.standardiser(x) @ probe.weight + probe.bias).float()


def probe_logits(probe: LayerOutcome, source: RowSource, layer: int) -> Float32[Tensor, "b K"]:
    """Return the logits of a layer's probe on all rows of a source."""
    return torch.cat(list(logit_blocks(probe, source, layer)))
