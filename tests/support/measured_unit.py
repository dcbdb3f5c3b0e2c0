"""One unit of a task in a process of its own, for measuring its memory.

``python -m tests.support.measured_unit extract|extract_tokens|probe|fuse|horizontal|shift STORE``; prints a JSON line: what the formula allows, the peak, and the memory of the
process when all libraries were loaded.
"""

from __future__ import annotations

import json
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path

import torch

from tasks.catalogue import CATALOGUE
from tasks.engine import SerialEngine
from tasks.extract_dataset import extract
from tasks.footprint import peak_bytes
from tasks.fusion_request import (
    ConcatenationSettings,
    EncoderSettings,
    FusionRequest,
    GateSettings,
    HorizontalRequest,
)
from tasks.plan_extraction import plan
from tasks.request import ExtractSettings, ProbeRequest, Request
from tasks.shift_request import ShiftRequest
from vitgeom.backbones import BackboneRef
from vitgeom.data import DatasetRef, corrupted_ref

LARGE = BackboneRef.from_options("vit_small_patch16_224", pretrained=False, image_size=224)
IMAGES = DatasetRef.from_options("noise", n=160, classes=4, size=64)
_SMALL = BackboneRef.from_options("nano_supervised", pretrained=False, image_size=16)
_SMALL_IMAGES = DatasetRef.from_options("noise", n=2000, classes=5, size=16)
_SMALL_SETTINGS = ExtractSettings(batch_size=64, rows_per_range=512)


def resident_bytes() -> int:
    """Return the resident set of this process now."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def extraction(store: str, *, token_layers: tuple[int, ...] = (), rows: int = 32) -> tuple[int, int]:
    """Run one range of images of 224 pixels under a ViT-S; return the formula's bytes and the memory before it."""
    settings = ExtractSettings(batch_size=min(rows, 32), rows_per_range=rows, token_layers=token_layers)
    request = plan(IMAGES, LARGE, store=store, settings=settings).requests[0]
    before = resident_bytes()
    CATALOGUE["extract_features"].function(request)
    return CATALOGUE["extract_features"].memory(request), before


def extraction_with_tokens(store: str) -> tuple[int, int]:
    """The same with three ranges' worth of rows and all tokens of six layers: 174 MB of them."""
    return extraction(store, token_layers=(1, 3, 5, 7, 9, 12), rows=96)


def probing(store: str) -> tuple[int, int]:
    """Fit probes on small features; return the formula's bytes and the memory before it."""
    backbone = BackboneRef.from_options("nano_supervised", pretrained=False, image_size=16)
    images = DatasetRef.from_options("noise", n=4000, classes=20, size=16)
    settings = ExtractSettings(batch_size=64, rows_per_range=512)
    sealed = extract(images, backbone, store=store, settings=settings, engine=SerialEngine())
    before = resident_bytes()
    request = ProbeRequest(
        store=store,
        address=sealed.detail["address"],
        manifest_digest=sealed.digest,
        l2=(1e-2, 1e-1, 1.0),
        num_bootstrap=200,
        tol=1e-3,
    )
    CATALOGUE["fit_probes"].function(request)
    return CATALOGUE["fit_probes"].memory(request), before


def fusing(store: str) -> tuple[int, int]:
    """Compare all methods on small features; return the formula's bytes and the memory before it."""
    return _measured(_fusion_request(store, "nano_supervised"))


def fusing_backbones(store: str) -> tuple[int, int]:
    """Fuse two backbones; return the formula's bytes and the memory before it."""
    first, second = (_fusion_request(store, name) for name in ("nano_supervised", "nano_selfsup"))
    shared = first.model_dump(include=set(HorizontalRequest.model_fields) - {"probes"})
    request = HorizontalRequest(
        **shared,
        addresses=(first.address, second.address),
        manifest_digests=(first.manifest_digest, second.manifest_digest),
        backbones=("a", "b"),
    )
    return _measured(request)


def evaluating(store: str) -> tuple[int, int]:
    """Ask all methods about damaged images, in a process that has fitted nothing; return the formula's bytes and the memory before it."""
    request = _shift_request(store)
    return _measured(request)


def _shift_request(store: str) -> ShiftRequest:
    """Fit in another process, whose memory is not this one's."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(_fitted_and_shifted, store).result()


def _fitted_and_shifted(store: str) -> ShiftRequest:
    fused = CATALOGUE["fit_fusion"].function(_fusion_request(store, "nano_supervised"))
    images = corrupted_ref(_SMALL_IMAGES, corruption="contrast", severity=3)
    sealed = extract(images, _SMALL, store=store, settings=_SMALL_SETTINGS, engine=SerialEngine())
    return ShiftRequest(
        store=store,
        fused=fused.uri,
        fused_digest=fused.digest,
        address=sealed.detail["address"],
        manifest_digest=sealed.digest,
        dataset=images.to_json(),
        num_bootstrap=100,
    )


def _measured(request: Request) -> tuple[int, int]:
    before = resident_bytes()
    CATALOGUE[request.task].function(request)
    return CATALOGUE[request.task].memory(request), before


def _fusion_request(store: str, backbone: str) -> FusionRequest:
    small = BackboneRef.from_options(backbone, pretrained=False, image_size=16)
    sealed = extract(_SMALL_IMAGES, small, store=store, settings=_SMALL_SETTINGS, engine=SerialEngine())
    return FusionRequest(
        store=store,
        address=sealed.detail["address"],
        manifest_digest=sealed.digest,
        l2=(1e-2, 1.0),
        tol=1e-2,
        fold_tol=1e-2,
        num_folds=2,
        seeds=(0, 1),
        encoder=EncoderSettings(max_epochs=2),
        gate=GateSettings(max_epochs=2),
        concatenation=ConcatenationSettings(l2=(1.0, 10.0)),
        num_bootstrap=100,
    )


if __name__ == "__main__":
    torch.set_num_threads(1)
    UNITS = {
        "extract": extraction,
        "extract_tokens": extraction_with_tokens,
        "probe": probing,
        "fuse": fusing,
        "horizontal": fusing_backbones,
        "shift": evaluating,
    }
    allowed, before = UNITS[sys.argv[1]](sys.argv[2])
    print(json.dumps({"allowed": allowed, "before": before, "peak": peak_bytes()}))
