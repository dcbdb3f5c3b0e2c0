"""Requests for fused classifiers: what belongs to sealed features and a profile's parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from flows.cell import Cell
from flows.probe import request_from as probe_request_from
from flows.results import Results
from flows.study import Resolved
from tasks import fit_probes
from tasks.fusion_request import (
    VERTICAL,
    ConcatenationSettings,
    FusionRequest,
    GateSettings,
    HorizontalRequest,
)
from vitgeom.store.manifest import Manifest


def fusion_request_for(cell: Cell, wanted: Resolved, results: Results) -> FusionRequest:
    """Return the request for a cell.

    Raises:
        InvalidInput: The cell has no manifest yet.
    """
    manifest, _ = results.read_features(cell)
    return fusion_request_from(manifest, wanted)


def fusion_request_from(manifest: Manifest, wanted: Resolved) -> FusionRequest:
    """Return the request for sealed features."""
    fusion = wanted.params.fusion
    return FusionRequest(
        **_shared(wanted),
        address=manifest.address,
        manifest_digest=manifest.digest,
        probes=fitted_probes(manifest, wanted),
        methods=VERTICAL if isinstance(fusion.methods, str) else fusion.methods,
        gate=GateSettings(**fusion.gate.model_dump()),
        concatenation=ConcatenationSettings(**fusion.concatenation.model_dump()),
    )


def fitted_probes(manifest: Manifest, wanted: Resolved) -> str | None:
    """Return where the probe step has left probes that fusion may take; None where it has not."""
    # Probes refitted on validation rows are other ones than those that methods are compared on.
    probed = None if wanted.params.probe.refit else fit_probes.stored(probe_request_from(manifest, wanted))
    return None if probed is None else probed.uri


def horizontal_request_for(cells: Sequence[Cell], wanted: Resolved, results: Results) -> HorizontalRequest:
    """Return the request for all backbones of one dataset.

    Args:
        cells: Of one dataset, at least two.
        wanted: The study.
        results: Has their manifests.

    Raises:
        InvalidInput: A cell has no manifest yet.
    """
    manifests = [results.read_features(cell)[0] for cell in cells]
    return horizontal_request_from(manifests, wanted, backbones=[cell.backbone for cell in cells])


def horizontal_request_from(
    manifests: Sequence[Manifest], wanted: Resolved, *, backbones: Sequence[str]
) -> HorizontalRequest:
    """Return the request for sealed features of one dataset under several backbones."""
    return HorizontalRequest(
        **_shared(wanted),
        addresses=tuple(manifest.address for manifest in manifests),
        manifest_digests=tuple(manifest.digest for manifest in manifests),
        backbones=tuple(backbones),
        probes=tuple(fitted_probes(manifest, wanted) for manifest in manifests),
    )


def _shared(wanted: Resolved) -> dict[str, Any]:
    """Return what both kinds of request say alike."""
    probe, fusion = wanted.params.probe, wanted.params.fusion
    return {
        "store": wanted.store,
        "token": probe.token,
        "last_layer": probe.last_layer,
        "l2": probe.l2,
        "tol": probe.tol,
        "fold_tol": fusion.fold_tol,
        "num_folds": fusion.num_folds,
        "seeds": fusion.seeds,
        "encoder": fusion.encoder.model_dump(),
        "num_bootstrap": fusion.num_bootstrap,
        "seed": wanted.params.seed,
        "device": fusion.device,
        "threads": fusion.threads,
    }
