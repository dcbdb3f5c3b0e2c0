"""All targets of some decoders on one dataset under one backbone: plan, lease, compute what is missing, seal.

Runs in the driver; the units run wherever the engine puts them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack

from tasks.engine import Engine
from tasks.footprint import peak_bytes
from tasks.plan_targets import TargetPlan, plan_targets
from tasks.progress import Progress
from tasks.receipt import Receipt
from tasks.target_request import DecoderRef, TargetRequest, TargetSettings
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef
from vitgeom.store.lease import lease
from vitgeom.store.manifest import MANIFEST
from vitgeom.store.targets import open_targets
from vitgeom.store.uri import Root


def make_target_set(
    dataset: DatasetRef,
    backbone: BackboneRef,
    decoders: Sequence[DecoderRef],
    *,
    store: str,
    settings: TargetSettings,
    engine: Engine,
    emit: Callable[[str], None],
    label: str,
) -> dict[DecoderRef, Receipt]:
    """Return the sealed targets of each decoder, computing only what is not there; all ranges of all decoders go to the engine together.

    Args:
        dataset: What to read.
        backbone: What to run.
        decoders: Which ones, and where their features are taken.
        store: URI of the store's root.
        settings: How.
        engine: Where the units run.
        emit: Receives progress lines.
        label: What these call the work.

    Returns:
        The seals: manifest digest, address (in ``detail``), images, products spent.

    Raises:
        InvalidInput: A decoder cannot be had; before anything is computed.
        StoreLocked: Another driver is at work on the same targets.
        VitgeomError: A unit failed for good; finished ranges stay.
    """
    plans = {
        decoder: plan_targets(dataset, backbone, decoder, store=store, settings=settings)
        for decoder in decoders
    }
    fewer = next((work.fewer for work in plans.values()), {})
    for split, there in fewer.items():
        emit(
            f"{label}: all {there:,} images of split {split!r}, which has fewer than the {settings.images_of(split):,} that were asked for"
        )
    with ExitStack() as leases:
        for work in sorted(plans.values(), key=lambda work: work.address):
            if work.requests:
                leases.enter_context(lease(Root(work.store), work.address))
        _compute(plans, engine=engine, emit=emit, label=label)
        return {decoder: _sealed(work) for decoder, work in plans.items()}


def _compute(
    plans: Mapping[DecoderRef, TargetPlan], *, engine: Engine, emit: Callable[[str], None], label: str
) -> None:
    requests = [request for work in plans.values() for request in work.requests]
    if not requests:
        return
    units, images = (
        sum(work.total_ranges for work in plans.values()),
        sum(work.num_images for work in plans.values()),
    )
    with Progress(
        label,
        total_units=units,
        total_rows=images,
        done_units=units - len(requests),
        done_rows=images - sum(work.num_missing for work in plans.values()),
        emit=emit,
    ) as progress:
        engine.map(TargetRequest.task, requests, on_receipt=progress, label=label)


def _sealed(work: TargetPlan) -> Receipt:
    began = time.perf_counter()
    targets = open_targets(Root(work.store), work.address)
    was_sealed = targets.root.exists(MANIFEST)
    manifest = targets.seal()
    markers = [marker for split in targets.splits for marker in targets.markers.valid(split).values()]
    notes = markers[0].notes
    return Receipt(
        task="seal_targets",
        key=work.label,
        uri=targets.root.uri,
        digest=manifest.digest,
        seconds=time.perf_counter() - began,
        peak_bytes=peak_bytes(),
        cached=was_sealed and not work.requests,
        rows=manifest.num_rows,
        detail={
            "address": work.address,
            "rank": targets.layout.rank,
            "computed_rows": work.num_missing,
            "products": sum(int(marker.notes["products"]) for marker in markers),
            "compute_seconds": sum(marker.seconds for marker in markers),
            **{key: notes[key] for key in ("recipe", "jvp_path", "vjp_path")},
        },
    )
