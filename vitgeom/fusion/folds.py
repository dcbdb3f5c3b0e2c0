"""Stratified folds and inner splits of training rows.   n = rows, V = folds."""

from __future__ import annotations

from numbers import Integral, Real

import torch
from jaxtyping import Bool, Int64
from torch import Generator, Tensor

from vitgeom.errors import InvalidInput


def stratified_folds(
    target: Int64[Tensor, " n"], *, num_folds: int, generator: Generator
) -> Int64[Tensor, " n"]:
    """Return the fold 0..V-1 of each row: class by class, in random order, dealt out in turn.

    Dealing goes on from class to class, so fold sizes differ by at most one and a class is spread as evenly as its number
    of members allows. A class with fewer members than folds is absent from some folds; one with a single member is
    absent from the training rows of the fold that holds it.

    Args:
        target: Class indices.
        num_folds: V, 2 <= V <= n.
        generator: The only source of randomness.

    Raises:
        InvalidInput: V is out of range.
    """
    if not isinstance(num_folds, Integral) or not 2 <= num_folds <= len(target):
        raise InvalidInput(
            f"num_folds must lie between 2 and the {len(target)} training rows, got {num_folds}; 5 is the default."
        )
    fold = torch.empty_like(target)
    fold[_dealt(target, generator=generator)] = torch.arange(len(target)) % num_folds
    return fold


def inner_validation(
    target: Int64[Tensor, " n"], *, fraction: float, generator: Generator
) -> Bool[Tensor, " n"]:
    """Return which rows to hold out for choices when no validation rows are given.

    From a class with c members round(fraction c) are held out, but never the last one: what validation asks for must
    have been seen in training. Where that leaves nobody, one row of the largest class is held out.

    Args:
        target: Class indices.
        fraction: Share to hold out, between 0 and 1.
        generator: The only source of randomness.

    Raises:
        InvalidInput: The share is out of range, or no class has two members.
    """
    if not isinstance(fraction, Real) or not 0 < fraction < 1:
        raise InvalidInput(
            f"val_fraction must lie strictly between 0 and 1, got {fraction!r}; 0.2 is the default."
        )
    order = _dealt(target, generator=generator)
    sizes = torch.bincount(target)
    if int(sizes.max()) < 2:
        raise InvalidInput(
            f"y has {len(target)} rows and no class with 2 members, so none can be held out for choices; "
            "give X_val and y_val, or more rows."
        )
    wanted = (fraction * sizes).round().long().minimum((sizes - 1).clamp(min=0))
    if not bool(wanted.any()):
        wanted[sizes.argmax()] = 1
    held_out = torch.zeros(len(target), dtype=torch.bool)
    for members, count in zip(order.split(sizes.tolist()), wanted.tolist(), strict=True):
        held_out[members[:count]] = True
    return held_out


def _dealt(target: Int64[Tensor, " n"], *, generator: Generator) -> Int64[Tensor, " n"]:
    """Return row numbers sorted by class, at random within each class."""
    shuffled = torch.randperm(len(target), generator=generator)
    return shuffled[target[shuffled].argsort(stable=True)]
