"""The test sets that a cell's classifiers are asked about, each as a cell of its own.

Damaged pictures, sub-populations where the dataset names some, and the clean test split, for what batch statistics cost there.
"""

from __future__ import annotations

import shlex
from dataclasses import dataclass

from flows.cell import Cell
from flows.fusion_requests import fusion_request_for
from flows.results import Results
from flows.study import Resolved
from tasks import fit_fusion
from tasks.opened import opened_dataset
from tasks.receipt import Receipt
from vitgeom.data import corrupted_ref, has_subpopulations, subpopulations_ref
from vitgeom.errors import InvalidInput


@dataclass(frozen=True)
class Shifted:
    """A fused cell with its test sets.

    Attributes:
        cell: The cell.
        fused: Receipt of its fitted classifiers.
        parts: Its shifted test sets, and the clean one last; none where it has no shifted one.
    """

    cell: Cell
    fused: Receipt
    parts: tuple[Cell, ...]


def shifted(cell: Cell, wanted: Resolved, results: Results) -> Shifted:
    """Return a fused cell with every corruption at every severity of the parameters, and its sub-populations if it has them.

    Args:
        cell: Of the study.
        wanted: The study.
        results: Has its manifest.

    Raises:
        InvalidInput: It has no features or fused classifiers yet.
        VitgeomError: The dataset cannot be opened.
    """
    fused = fit_fusion.stored(fusion_request_for(cell, wanted, results))
    if fused is None:
        raise InvalidInput(
            f"{cell.name} has no fused classifiers in the store {wanted.store!r} yet. Make them, with the same --profile and --set: "
            f"vitgeom stage fuse {cell.arguments} --out {shlex.quote(str(results.folder))}"
        )
    return Shifted(cell, fused, shifted_parts(cell, wanted))


def shifted_parts(cell: Cell, wanted: Resolved) -> tuple[Cell, ...]:
    """Return the shifted test sets of a cell, and the clean one last; none where there is no shifted one.

    Args:
        cell: Of the study.
        wanted: The study.

    Raises:
        VitgeomError: The dataset cannot be opened.
    """
    chosen, seed = wanted.params.shift, wanted.params.seed
    clean = cell.dataset_ref
    refs = [
        (
            f"under {corruption} {severity}",
            corrupted_ref(clean, corruption=corruption, severity=severity, seed=seed),
        )
        for corruption in chosen.corruptions
        for severity in chosen.severities
    ]
    if has_subpopulations(opened_dataset(clean.to_json())):
        refs.append(("by sub-population", subpopulations_ref(clean)))
    if refs:
        refs.append(("as it is", clean))
    return tuple(
        Cell(ref.slug, cell.backbone, ref, cell.backbone_ref, title=f"{cell.dataset_name} {said}")
        for said, ref in refs
    )
