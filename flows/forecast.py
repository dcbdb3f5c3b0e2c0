"""What a cell would cost: how much of it is stored already. Nothing is computed, and the store is not touched."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from flows.cell import Cell, together
from flows.extract import settings_from
from flows.fusion_requests import fusion_request_from, horizontal_request_from
from flows.probe import request_from
from flows.study import Resolved
from tasks import fit_fusion, fit_horizontal, fit_probes
from tasks.fusion_request import VERTICAL
from tasks.plan_extraction import plan
from vitgeom.errors import StoreError
from vitgeom.store.features import FeatureStore, open_features
from vitgeom.store.manifest import MANIFEST, Manifest
from vitgeom.store.uri import Root

SCRATCH = "memory://vitgeom-forecast"


@dataclass(frozen=True)
class Forecast:
    """What is there of one cell, and what is missing."""

    cell: Cell
    ranges: int
    ranges_missing: int
    images_missing: int
    probes_stored: bool
    methods: int
    fusion_stored: bool
    manifest: Manifest | None = None

    def line(self) -> str:
        """Return what a reader wants to know, in one line."""
        if self.ranges_missing:
            features = f"{self.ranges - self.ranges_missing} of {self.ranges} ranges stored, {self.images_missing} images to compute"
        else:
            features = f"all {self.ranges} ranges stored"
        probes = "stored" if self.probes_stored else "to fit"
        fusion = "stored" if self.fusion_stored else "to fit"
        return f"{self.cell.name}: features {features}; probes {probes}; fusion by {self.methods} methods {fusion}"


def forecast(cell: Cell, wanted: Resolved) -> Forecast:
    """Compare what a cell needs with what the store holds.

    Raises:
        InvalidInput: The cell cannot be computed at all.
        StoreError: The store cannot be read.
    """
    # Planning makes an empty store at the address; a scratch one in memory leaves the real one alone.
    work = plan(
        cell.dataset_ref, cell.backbone_ref, store=SCRATCH, settings=settings_from(wanted.params.extract)
    )
    stored = _stored(Root(wanted.store), work.address)
    missing = (
        [(request.start, request.stop) for request in work.requests]
        if stored is None
        else [(start, stop) for _, start, stop in stored.missing()]
    )
    manifest = None if stored is None else _manifest(stored)
    return Forecast(
        cell=cell,
        ranges=work.total_ranges
        if stored is None
        else sum(len(stored.ranges(split)) for split in stored.splits),
        ranges_missing=len(missing),
        images_missing=sum(stop - start for start, stop in missing),
        probes_stored=manifest is not None and fit_probes.stored(request_from(manifest, wanted)) is not None,
        methods=len(VERTICAL if wanted.params.fusion.methods == "all" else wanted.params.fusion.methods),
        fusion_stored=manifest is not None
        and fit_fusion.stored(fusion_request_from(manifest, wanted)) is not None,
        manifest=manifest,
    )


def horizontal_line(cells: Sequence[Cell], forecasts: Sequence[Forecast], wanted: Resolved) -> str:
    """Return whether horizontal fusion of one dataset is stored, in one line.

    Args:
        cells: Of one dataset, at least two.
        forecasts: Of the same cells.
        wanted: The study.

    Raises:
        StoreError: The store cannot be read.
    """
    manifests = [told.manifest for told in forecasts if told.manifest is not None]
    known = len(manifests) == len(cells) and fit_horizontal.stored(
        horizontal_request_from(manifests, wanted, backbones=[cell.backbone for cell in cells])
    )
    return f"{together(cells).name}: horizontal fusion {'stored' if known else 'to fit'}"


def _stored(root: Root, address: str) -> FeatureStore | None:
    try:
        return open_features(root, address)
    except StoreError:
        if root.list(address):
            raise
        return None


def _manifest(stored: FeatureStore) -> Manifest | None:
    if not stored.root.exists(MANIFEST):
        return None
    return Manifest.from_json(stored.root.read_json(MANIFEST))
