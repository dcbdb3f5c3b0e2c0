"""Which strength a layer gets and which layer is best, by validation only.   L = layers, S = strengths, K = classes."""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float64, Int64
from torch import Tensor

from vitgeom.errors import NumericalFailure
from vitgeom.probes.labels import UNKNOWN_CLASS
from vitgeom.probes.layer_fit import LayerFit
from vitgeom.probes.memory import chunk_rows
from vitgeom.probes.objective import cross_entropy
from vitgeom.probes.row_file import Rows


def validation_scores(
    fit: LayerFit, x: Rows, target: Int64[Tensor, " n"], *, num_train: int
) -> tuple[Float64[Tensor, " S"], Float64[Tensor, " S"]]:
    """Return the log-loss and the accuracy of every strength of a layer.

    A row whose class was never trained on counts as wrong, and its loss is -log(1 / (num_train + 1)): the rate at which
    something not seen once in num_train rows may be expected. This is the same for all strengths and layers, so it
    never changes a choice.

    Args:
        fit: Probes of one layer.
        x: Validation features of that layer, in memory or in a file; read block by block.
        target: Class indices, :data:`UNKNOWN_CLASS` where the class was never trained on.
        num_train: Rows the probes were fitted on.
    """
    num_strengths, num_classes = fit.bias.shape
    loss = torch.zeros(num_strengths, dtype=torch.float64)
    right = torch.zeros(num_strengths, dtype=torch.float64)
    known = target != UNKNOWN_CLASS
    inner = fit.weight.transpose(0, 1).reshape(x.shape[1], -1)
    rows = chunk_rows(width=x.shape[1], columns=num_strengths * num_classes)
    for start in range(0, len(x), rows):
        part = slice(start, start + rows)
        seen, truth = x[part].cpu()[known[part]], target[part][known[part]]
        logits = (fit.standardiser(seen) @ inner).view(-1, num_strengths, num_classes).add_(fit.bias)
        right += (logits.argmax(dim=2) == truth[:, None]).sum(dim=0)
        loss += cross_entropy(logits, truth)[0].sum(dim=0)
    unseen = int((~known).sum()) * torch.log(torch.tensor(num_train + 1.0, dtype=torch.float64))
    return (loss + unseen) / len(known), right / len(known)


def choose_strength(val_loss: Float64[Tensor, " S"]) -> int:
    """Return the index of the least validation log-loss (the first on a tie).

    Raises:
        NumericalFailure: No strength has a finite loss.
    """
    usable = torch.where(torch.isfinite(val_loss), val_loss, torch.inf)
    if not bool(torch.isfinite(usable).any()):
        raise NumericalFailure(
            f"no strength has a finite validation log-loss ({val_loss.tolist()}); "
            "use stronger penalties or look at the scale of the validation features."
        )
    return int(usable.argmin())


def choose_layer(
    *, accuracy: Float64[Tensor, " L"], loss: Float64[Tensor, " L"], converged: Bool[Tensor, " L"]
) -> int:
    """Return the layer (0-based) with the best validation accuracy; ties go to the lower log-loss.

    A layer whose probe did not converge is never chosen: its error set depends on where the solver happened to stop.

    Args:
        accuracy: Validation accuracy of each layer's chosen probe.
        loss: Its validation log-loss.
        converged: Whether it reached the tolerance.

    Raises:
        NumericalFailure: No layer converged.
    """
    if not bool(converged.any()):
        raise NumericalFailure(
            f"none of the {len(converged)} layer probes converged, so there is no best layer; "
            "raise max_iter, loosen tol, or leave out the weakest strengths."
        )
    order = [
        (-float(accuracy[layer]), float(loss[layer]), layer) for layer in converged.nonzero()[:, 0].tolist()
    ]
    return min(order)[2]
