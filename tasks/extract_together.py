"""Layer features of many pairs in one call of the engine, which keeps every CPU busy where single pairs are small.

Runs in the driver, like ``tasks.extract_dataset``, which also does alone what could not be done together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack

from tasks.engine import Engine
from tasks.extract_dataset import planned, sealed_receipt
from tasks.plan_extraction import ExtractionPlan
from tasks.progress import Progress
from tasks.receipt import Receipt
from tasks.request import ExtractRequest, ExtractSettings
from tasks.seal_features import seal
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef
from vitgeom.errors import IncompleteData, VitgeomError
from vitgeom.store.lease import lease
from vitgeom.store.uri import Root

HELD_AT_ONCE = 128
"""Pairs whose leases are held at the same time; each is kept alive by a thread."""


def extract_together(
    pairs: Mapping[str, tuple[DatasetRef, BackboneRef]],
    *,
    store: str,
    settings: ExtractSettings,
    engine: Engine,
    emit: Callable[[str], None],
    label: str,
) -> dict[str, Receipt]:
    """Return the seals of all pairs that could be completed, by their names; the others are told to ``emit`` and left out.

    Args:
        pairs: What to read and what to run, by name.
        store: URI of the store's root.
        settings: How.
        engine: Where the units run.
        emit: Receives progress lines.
        label: What the pairs are together.
    """
    plans: dict[str, ExtractionPlan] = {}
    for name, (dataset, backbone) in pairs.items():
        try:
            plans[name] = planned(dataset, backbone, store=store, settings=settings, label=name)
        except VitgeomError as error:
            emit(f"extract {name}: cannot be planned: {error}")
    sealed: dict[str, Receipt] = {}
    for names in _batches(list(plans)):
        sealed |= _completed(
            {name: plans[name] for name in names}, engine=engine, emit=emit, label=label, settings=settings
        )
    return sealed


def _batches(names: Sequence[str]) -> Iterator[Sequence[str]]:
    for start in range(0, len(names), HELD_AT_ONCE):
        yield names[start : start + HELD_AT_ONCE]


def _completed(
    plans: Mapping[str, ExtractionPlan],
    *,
    engine: Engine,
    emit: Callable[[str], None],
    label: str,
    settings: ExtractSettings,
) -> dict[str, Receipt]:
    """Compute what is missing of some pairs, and seal those that are complete."""
    sealed: dict[str, Receipt] = {}
    with ExitStack() as leases:
        try:
            for work in sorted(plans.values(), key=lambda work: work.address):
                if work.requests:
                    leases.enter_context(lease(Root(work.store), work.address))
            _compute(list(plans.values()), engine=engine, emit=emit, label=label)
        except VitgeomError as error:
            emit(f"extract {label}: not all could be done together, the rest is tried one by one: {error}")
        for name, work in plans.items():
            try:
                receipt = seal(work)
            except IncompleteData:
                continue
            sealed[name] = sealed_receipt(receipt, work, widened=work.storage != settings.storage)
    return sealed


def _compute(
    plans: Sequence[ExtractionPlan], *, engine: Engine, emit: Callable[[str], None], label: str
) -> None:
    requests = [request for work in plans for request in work.requests]
    if not requests:
        return
    total, missing = sum(work.total_ranges for work in plans), sum(work.num_missing for work in plans)
    rows = sum(work.num_images for work in plans)
    with Progress(
        f"extract {label}",
        total_units=total,
        total_rows=rows,
        done_units=total - len(requests),
        done_rows=rows - missing,
        emit=emit,
    ) as progress:
        engine.map(ExtractRequest.task, requests, on_receipt=progress, label=f"extract {label}")
