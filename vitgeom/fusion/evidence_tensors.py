"""Evidence as named tensors: computed once, stored, and taken up again by other processes on the same rows.

n = training rows, m = validation rows, D = width, K = classes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from vitgeom.fusion.evidence import Evidence, EvidenceSettings
from vitgeom.fusion.fit_data import FitData
from vitgeom.probes.probe_layer import LayerOutcome
from vitgeom.probes.standardise import Standardiser

_TENSORS = ("val_loss", "val_accuracy", "objective", "grad_norm", "converged", "iterations", "weight", "bias")
_NUMBERS = {"chosen": int, "final_grad_norm": float, "final_converged": bool}


def evidence_tensors(evidence: Evidence, *, layers: Sequence[int]) -> dict[str, Tensor]:
    """Return probes and held-out logits of some layers by name, computing what is not there yet.

    Args:
        evidence: From :func:`vitgeom.fusion.gather_evidence`.
        layers: Which layers.
    """
    found: dict[str, Tensor] = {}
    for layer in layers:
        probe = evidence.probe(layer)
        parts = {name: getattr(probe, name) for name in _TENSORS}
        parts |= {name: torch.tensor(getattr(probe, name), dtype=torch.float64) for name in _NUMBERS}
        parts |= {"mean": probe.standardiser.mean, "std": probe.standardiser.std}
        parts |= {"held_out": evidence.held_out(layer)[:], "val_logits": evidence.val_logits(layer)[:]}
        found |= {f"{layer}.{name}": tensor.contiguous() for name, tensor in parts.items()}
    return found


def evidence_from_tensors(
    tensors: Mapping[str, Tensor], *, data: FitData, settings: EvidenceSettings
) -> Evidence:
    """Rebuild evidence from :func:`evidence_tensors`; layers that are not among them are computed when asked for.

    Args:
        tensors: By name.
        data: The rows that they were computed on.
        settings: Those they were computed with.
    """
    evidence = Evidence(data, settings)
    for layer in sorted({int(name.partition(".")[0]) for name in tensors}):
        parts = {
            name.partition(".")[2]: tensor for name, tensor in tensors.items() if name.startswith(f"{layer}.")
        }
        fields: dict[str, Any] = {name: parts[name] for name in _TENSORS}
        fields |= {name: kind(parts[name]) for name, kind in _NUMBERS.items()}
        evidence.take_up(
            layer,
            probe=LayerOutcome(**fields, standardiser=Standardiser(parts["mean"], parts["std"])),
            held_out=parts["held_out"],
            val_logits=parts["val_logits"],
        )
    return evidence
