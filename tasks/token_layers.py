"""The layers that a user names for their tokens: counted from 1 in parameters and reports, from 0 in the library."""

from __future__ import annotations

from collections.abc import Sequence

from vitgeom.backbones.spec import BackboneSpec
from vitgeom.errors import InvalidInput


def layers_from_zero(token_layers: Sequence[int], *, spec: BackboneSpec) -> tuple[int, ...]:
    """Return the layers counted from 0, after comparing them with the backbone.

    Args:
        token_layers: Counted from 1, as in ``extract.token_layers``.
        spec: Of the backbone.

    Raises:
        InvalidInput: The backbone has no such layer, or the layers do not rise from one to the next.
    """
    for layer in token_layers:
        if not 1 <= layer <= spec.num_blocks:
            raise InvalidInput(
                f"token_layers={list(token_layers)} names layer {layer}, but backbone {spec.name!r} ({spec.architecture}) has the "
                f"layers 1..{spec.num_blocks} (counted from 1). Choose from them."
            )
    chosen = tuple(layer - 1 for layer in token_layers)
    if list(chosen) != sorted(set(chosen)):
        raise InvalidInput(
            f"token_layers={list(token_layers)} must rise from one to the next: name each layer once, first to last."
        )
    return chosen
