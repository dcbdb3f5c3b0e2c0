"""How a run departs from its profile in what it computes, in words that name a folder of results."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from flows.cell import backbone_label, dataset_label
from flows.params import Profile
from vitgeom.store.fingerprint import fingerprint

LONGEST = 80
HOW_IT_RUNS = re.compile(
    r"(engine|tracking|sweep|shift|diagnose|metric)\..*|extract\.(batch_size|rows_per_range|device|threads)|(probe|fusion)\.threads"
)
"""Parameters that say how the work is cut, where it runs and where it is recorded: the store holds one result whatever they are. And those of steps that
are asked beyond the usual, whose files lie beside the others and change none of them."""


def other_names(
    plain: Profile | None, *, datasets: Iterable[str], backbones: Iterable[str]
) -> tuple[str, ...]:
    """Return the labels of the datasets, and of the backbones, where they are not those of the profile.

    Args:
        plain: The profile as the file has it; None where it is not allowed without overrides.
        datasets: Labels of the datasets of the run.
        backbones: Likewise.
    """
    usual_datasets = [] if plain is None else [dataset_label(choice) for choice in plain.datasets]
    usual_backbones = [] if plain is None else [backbone_label(choice) for choice in plain.backbones]
    return (*_if_other(datasets, usual_datasets), *_if_other(backbones, usual_backbones))


def other_parameters(plain: Profile | None, given: Profile) -> tuple[str, ...]:
    """Return ``key=value`` of each parameter that decides what is computed and is not the profile's own.

    Args:
        plain: The profile as the file has it; None where it is not allowed without overrides.
        given: The profile with its overrides.
    """
    usual = {} if plain is None else _deciding(plain)
    return tuple(
        f"{key}={_spelled(value)}"
        for key, value in _deciding(given).items()
        if key not in usual or usual[key] != value
    )


def folder_name(base: str, departures: Sequence[str]) -> str:
    """Return a name that is the base alone without departures, and else tells them, or their hash where they make no good name.

    Args:
        base: The profile, or the label of an image folder.
        departures: What is different.
    """
    if not departures:
        return base
    told = "-".join(departures)
    plain = len(told) <= LONGEST and re.fullmatch(r"[A-Za-z0-9_.,=+-]+", told)
    return f"{base}-{told if plain else fingerprint(list(departures))[:12]}"


def _if_other(labels: Iterable[str], usual: Sequence[str]) -> list[str]:
    names = list(dict.fromkeys(labels))
    return names if set(names) != set(usual) else []


def _deciding(params: Profile) -> dict[str, Any]:
    """Return dotted key -> value of what decides the results of each cell."""
    tree = params.model_dump(mode="json", exclude={"datasets", "backbones"})
    return {key: value for key, value in _each_leaf(tree, "") if not HOW_IT_RUNS.fullmatch(key)}


def _each_leaf(tree: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in tree.items():
        if isinstance(value, Mapping):
            yield from _each_leaf(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _spelled(value: Any) -> str:
    """Return a value as one would type it after ``--set key=``."""
    if isinstance(value, list):
        return ",".join(_spelled(part) for part in value)
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return str(value)
