"""Methods asked about rows with batch statistics, against their own answers on the rows as they are.   n = samples, M = methods."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from jaxtyping import Float64
from torch import Generator, Tensor

from vitgeom.bootstrap import bootstrap_intervals
from vitgeom.errors import InvalidInput
from vitgeom.fusion.under_shift import ShiftScore

LAST_LAYER = "last_layer"
ITSELF_AS_IS, LAST_AS_IS, LAST_ADAPTED = "itself_as_is", "last_layer_as_is", "last_layer_adapted"
"""What an adapted method is compared with: itself on rows as they are, the last layer on these, and the last layer adapted likewise.

Only the last is a fair rival: both then knew the other test rows.
"""


def adapted_scores(
    right: Mapping[str, Float64[Tensor, " _"]],
    adapted: Mapping[str, Float64[Tensor, " _"]],
    *,
    num_resamples: int,
    generator: Generator,
) -> tuple[ShiftScore, ...]:
    """Return accuracy with batch statistics and its paired differences, all methods on the same resamples.

    Intervals say how sure the answers are on other draws of these samples with their answers as given; that other samples would also have
    given other statistics is not in them.

    Args:
        right: Share of right answers per sample on rows as they are, by method; see ``under_shift.share_right``.
        adapted: The same on rows with batch statistics.
        num_resamples: Of the samples.
        generator: The only source of randomness.

    Raises:
        InvalidInput: No method, no samples, or other methods or samples in one than in the other.
    """
    sizes, others = ({name: len(values) for name, values in given.items()} for given in (right, adapted))
    if sizes != others or len(set(sizes.values())) != 1:
        raise InvalidInput(
            f"right and adapted must hold the same methods, at least one, on the same samples, got {sizes} and {others}."
        )
    rivals = _rivals(right, adapted)
    columns = {(name, ""): values for name, values in adapted.items()}
    columns |= {
        (name, rival): adapted[name] - values
        for rival, by_name in rivals.items()
        for name, values in by_name.items()
    }
    spans = bootstrap_intervals(
        torch.stack(list(columns.values()), dim=1), num_resamples=num_resamples, generator=generator
    )
    found = dict(zip(columns, spans, strict=True))
    return tuple(
        ShiftScore(
            name, found[name, ""], {rival: found[name, rival] for rival in rivals if (name, rival) in found}
        )
        for name in right
    )


def _rivals(right: Mapping[str, Tensor], adapted: Mapping[str, Tensor]) -> dict[str, dict[str, Tensor]]:
    """Return by kind of comparison what each method is compared with."""
    found = {ITSELF_AS_IS: dict(right)}
    if LAST_LAYER in right:
        found[LAST_AS_IS] = dict.fromkeys(right, right[LAST_LAYER])
        found[LAST_ADAPTED] = {name: adapted[LAST_LAYER] for name in right if name != LAST_LAYER}
    return found
