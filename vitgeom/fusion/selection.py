"""Which layers are fused (A9 of the methods).   L = layers; indices count from 0, layer L of the methods is index L - 1."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from numbers import Integral

from vitgeom.errors import InvalidInput, UnknownName

_NAMED: Mapping[str, Callable[[int], Sequence[int]]] = {
    "holistic": range,
    # ceil(L/2)+1 .. L counted from 1: the later floor(L/2) layers, and the only one if there is one.
    "last_half": lambda num_layers: range(min((num_layers + 1) // 2, num_layers - 1), num_layers),
    "last": lambda num_layers: range(num_layers - 1, num_layers),
}
_STRIDED = re.compile(r"strided\((\d+)\)")

SELECTIONS = (*_NAMED, "strided(k)")


def select_layers(selection: object, *, num_layers: int) -> tuple[int, ...]:
    """Return the chosen layers, first to last.

    Args:
        selection: ``"holistic"`` (all), ``"last_half"``, ``"strided(k)"`` (the last layer and every k-th before it), ``"last"``, or the
            indices themselves, counted from 0.
        num_layers: L.

    Raises:
        UnknownName: No such selection.
        InvalidInput: Neither a name nor indices, no index, an index that is no layer or stands twice, or a stride of 0.
    """
    if not isinstance(selection, str):
        return _custom(selection, num_layers=num_layers)
    if selection in _NAMED:
        return tuple(_NAMED[selection](num_layers))
    strided = _STRIDED.fullmatch(selection)
    if strided is None:
        raise UnknownName(
            "selection", selection, SELECTIONS, hint="A list of layers, counted from 0, is taken as it is."
        )
    step = int(strided[1])
    if step < 1:
        raise InvalidInput(
            f"selection must step by at least 1 layer, got {selection!r}; strided(1) is holistic."
        )
    return tuple(sorted(range(num_layers - 1, -1, -step)))


def _custom(layers: object, *, num_layers: int) -> tuple[int, ...]:
    if not isinstance(layers, Iterable):
        raise InvalidInput(_kind(layers))
    chosen = tuple(layers)
    if not chosen:
        raise InvalidInput('selection must name at least 1 layer, got an empty list; "holistic" takes all.')
    if any(isinstance(layer, bool) or not isinstance(layer, Integral) for layer in chosen):
        raise InvalidInput(_kind(list(chosen)))
    wrong = [layer for layer in chosen if not 0 <= layer < num_layers]
    if wrong:
        raise InvalidInput(f"selection must hold layers 0..{num_layers - 1}, got {wrong}.")
    if len(set(chosen)) < len(chosen):
        raise InvalidInput(f"selection must name each layer once, got {list(chosen)}.")
    return tuple(sorted(int(layer) for layer in chosen))


def _kind(given: object) -> str:
    return f"selection must be one of {', '.join(SELECTIONS)} or a list of whole numbers, the layers counted from 0, got {given!r}."
