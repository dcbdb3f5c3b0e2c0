"""All layer features of one data set under one backbone: plan, lease, compute what is missing, widen on overflow, seal.

Runs in the driver; the units run wherever the engine puts them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from tasks.engine import Engine
from tasks.failure import StorageOverflow
from tasks.plan_extraction import ExtractionPlan, plan
from tasks.progress import Progress
from tasks.receipt import Receipt
from tasks.request import ExtractRequest, ExtractSettings
from tasks.seal_features import seal
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef
from vitgeom.store.lease import lease
from vitgeom.store.uri import Root

WIDEST = "float32"
OVERFLOW_NOTE = "overflow.json"


def extract(
    dataset: DatasetRef,
    backbone: BackboneRef,
    *,
    store: str,
    settings: ExtractSettings,
    engine: Engine,
    emit: Callable[[str], None] | None = None,
    label: str | None = None,
) -> Receipt:
    """Return the sealed features, computing only what is not there.

    Features that do not fit ``settings.storage`` are stored as float32 instead, under that address; the receipt says so
    (``detail["widened"]``).

    Args:
        dataset: What to read.
        backbone: What to run.
        store: URI of the store's root.
        settings: How.
        engine: Where the units run.
        emit: Receives progress lines.
        label: What these call the pair; the data set and backbone of the address when None.

    Returns:
        The seal: manifest digest, address (in ``detail``), rows, how many ranges were computed now.

    Raises:
        InvalidInput: The backbone cannot give what is asked; before any image is decoded.
        StoreLocked: Another driver is at work on the same features.
        VitgeomError: A unit failed for good; finished ranges stay.
    """
    work = planned(dataset, backbone, store=store, settings=settings, label=label)
    try:
        return _finish(work, engine=engine, emit=emit, widened=work.storage != settings.storage)
    except StorageOverflow as error:
        if work.storage == WIDEST:
            raise
        _note_overflow(work, error, emit=emit)
    work = planned(dataset, backbone, store=store, settings=settings, label=label)
    return _finish(work, engine=engine, emit=emit, widened=True)


def planned(
    dataset: DatasetRef,
    backbone: BackboneRef,
    *,
    store: str,
    settings: ExtractSettings,
    label: str | None = None,
) -> ExtractionPlan:
    """Return what there is to do, at the wide address where the narrow one is known to overflow.

    Args:
        dataset: What to read.
        backbone: What to run.
        store: URI of the store's root.
        settings: How.
        label: What these call the pair; the data set and backbone of the address when None.

    Raises:
        InvalidInput: The backbone cannot give what is asked; before any image is decoded.
    """
    work = plan(dataset, backbone, store=store, settings=settings)
    if _is_known_to_overflow(work):
        work = plan(dataset, backbone, store=store, settings=settings.model_copy(update={"storage": WIDEST}))
    return work if label is None else replace(work, label=label)


def _is_known_to_overflow(work: ExtractionPlan) -> bool:
    return Root(work.store).join(work.address).exists(OVERFLOW_NOTE)


def _note_overflow(
    work: ExtractionPlan, error: StorageOverflow, *, emit: Callable[[str], None] | None
) -> None:
    """Leave a note at the narrow address, so that the next run goes to the wide one at once."""
    reason = str(error.__cause__ or error)
    Root(work.store).join(work.address).write_json(OVERFLOW_NOTE, {"storage": WIDEST, "reason": reason})
    if emit is not None:
        emit(
            f"extract {work.label}  features do not fit {work.storage} and are stored as {WIDEST} instead: {reason}"
        )


def _finish(
    work: ExtractionPlan, *, engine: Engine, emit: Callable[[str], None] | None, widened: bool
) -> Receipt:
    if work.requests:
        with lease(Root(work.store), work.address):
            _compute(work, engine=engine, emit=emit)
            sealed = seal(work)
    else:
        sealed = seal(work)
    return sealed_receipt(sealed, work, widened=widened)


def sealed_receipt(sealed: Receipt, work: ExtractionPlan, *, widened: bool) -> Receipt:
    """Return the receipt of a seal with what was computed now.

    Args:
        sealed: From :func:`tasks.seal_features.seal`.
        work: What there was to do.
        widened: Whether features are stored in a wider format than was asked for.
    """
    computed = {"computed_ranges": len(work.requests), "computed_rows": work.num_missing, "widened": widened}
    return sealed.model_copy(update={"cached": not work.requests, "detail": {**sealed.detail, **computed}})


def _compute(work: ExtractionPlan, *, engine: Engine, emit: Callable[[str], None] | None) -> list[Receipt]:
    label = f"extract {work.label}"
    with Progress(
        label,
        total_units=work.total_ranges,
        total_rows=work.num_images,
        done_units=work.total_ranges - len(work.requests),
        done_rows=work.num_images - work.num_missing,
        emit=emit or _silent,
    ) as progress:
        return engine.map(ExtractRequest.task, work.requests, on_receipt=progress, label=label)


def _silent(line: str) -> None:
    """Say nothing."""
