"""Task: to which directions and tokens a decoder's output reacts, image by image, for one range of images (B1 to B7 of the methods).

N = tokens, D = width, R = directions asked for, n = images of the range.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tasks.bound_checks import bound_checks
from tasks.decoding import image_batches
from tasks.extract_features import PROCESS_BYTES, torch_threads
from tasks.footprint import peak_bytes
from tasks.opened import opened_backbone, opened_images
from tasks.opened_decoder import opened_decoder, prefix_of
from tasks.range_receipt import range_receipt
from tasks.receipt import Receipt
from tasks.target_figures import image_figures
from tasks.target_request import TargetRequest
from vitgeom.backbones import Backbone
from vitgeom.data import Split
from vitgeom.decoders import BoundDecoder, jacobian_of
from vitgeom.decoders.output_metrics import output_metric
from vitgeom.errors import CorruptData
from vitgeom.linop import LinearOperator
from vitgeom.seeding import generator_for
from vitgeom.spectra import Diagnosis, diagnose
from vitgeom.spectra.theorems import BoundCheck
from vitgeom.store.figures import read_figures, write_figures
from vitgeom.store.targets import TargetStore, open_targets
from vitgeom.store.uri import Root

NARROWEST_HEAD = 32
"""Width of one head of attention: how many heads there are at most."""

BASIS_COPIES = 6
"""Bases of N D rows alive at once: the sketch, its products, their orthonormal forms, and what the small algebra takes in float64, in float32s."""


EXACT_COPIES = 3
"""The whole J at once, its double in stretches, and what is multiplied with it, in float32s of J."""
VECTORS = ("cls", "patch_mean", "pooled", "scenes_camera")
"""Decoders of no more outputs than a token is wide; J of any other may be as large as its output and its features."""


def run(request: TargetRequest) -> Receipt:
    """Diagnose and commit one range of images unless it is there already.

    Each image has random numbers of its own, named after it, so neither the cut into ranges nor their order changes a result.

    Args:
        request: Rows [start, stop) of one split, exactly one range of the store.

    Returns:
        Digest of the range; ``detail`` counts the products spent and names the recipe and the paths of differentiation.

    Raises:
        InvalidInput: Data or weights are others than planned, the decoder cannot be differentiated, or the budget is too small.
        NumericalFailure: A product or an output is not finite.
    """
    store = open_targets(Root(request.store), request.address)
    marker = _marker(store, request)
    if marker is not None:
        return range_receipt(request, marker, cached=True)
    began = time.perf_counter()
    split = opened_images(request.dataset, digest=store.description["dataset"]).splits[request.split]
    backbone = opened_backbone(
        request.backbone, device=request.device, weights_digest=store.description["weights"]
    )
    with torch_threads(request.threads):
        diagnosed, paths = _diagnosed(request, split, backbone)
    found = [each.diagnosis for each in diagnosed]
    samples = [str(split.sample_ids[image]) for image in request.images]
    figures = [
        image_figures(each.diagnosis, each.checks, sample=sample, image=image)
        for each, sample, image in zip(diagnosed, samples, request.images, strict=True)
    ]
    write_figures(store, request.split, request.start, figures)
    store.write_range(
        request.split,
        request.start,
        request.stop,
        {
            "features": np.stack([each.features.cpu().numpy() for each in diagnosed]),
            **_arrays(found, rank=request.rank, storage=store.description["storage"]),
            "label": split.labels[list(request.images)],
            "sample_id": samples,
        },
        seconds=time.perf_counter() - began,
        notes={"products": sum(each.products.total for each in found), "recipe": found[0].recipe, **paths},
        peak_bytes=peak_bytes(),
    )
    written = _marker(store, request)
    assert written is not None, "a range that was written has its marker"
    return range_receipt(request, written, cached=False)


def memory(request: TargetRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that runs one such unit.

    The weights twice, the state of all blocks at one image (attention and activations), the block of columns that is pushed at once, bases of
    as many columns as the budget or the outputs allow, and the directions of the range.
    """
    size = request.footprint
    features = size.num_tokens * size.width
    heads = -(-size.width // NARROWEST_HEAD)
    outputs = max(3 * size.image_pixels, features)
    state = size.num_layers * (heads * size.num_tokens**2 + 16 * features) * 4 * 2
    if request.recipe == "exact":
        side = size.width if request.decoder.name in VECTORS else min(features, outputs)
        bases = (EXACT_COPIES * max(features, outputs) + 2 * side) * side * 4
    else:
        bases = BASIS_COPIES * max(request.budget, request.rank) * (features + outputs) * 4
    directions = 3 * (request.stop - request.start) * features * request.rank * 4
    return PROCESS_BYTES + 2 * size.weight_bytes + state + request.max_bytes + bases + directions


@dataclass(frozen=True)
class _Diagnosed:
    """One image: its tokens [N, D], what was found there, and the checks of the bounds, where they were asked for."""

    features: Tensor
    diagnosis: Diagnosis
    checks: dict[str, BoundCheck]


def _diagnosed(
    request: TargetRequest, split: Split, backbone: Backbone
) -> tuple[list[_Diagnosed], dict[str, str]]:
    """Return what each image comes to, and how products were computed."""
    decoder = opened_decoder(request.decoder, backbone, store=request.store)
    num_prefix = prefix_of(request.decoder, backbone)
    found: list[_Diagnosed] = []
    paths: dict[str, str] = {}
    for image in request.images:
        [pixels] = next(
            image_batches(
                split, preprocess=backbone.preprocess, rows=[(image, image + 1)], name=request.split
            )
        )
        bound = decoder.at(pixels)
        operator = jacobian_of(
            bound,
            backbone,
            metric=request.decoder.metric,
            max_bytes=request.max_bytes,
            num_prefix=num_prefix,
        )
        paths = {"jvp_path": operator.jvp_path, "vjp_path": operator.vjp_path}
        diagnosis = diagnose(
            operator,
            rank=request.rank,
            recipe=request.recipe,
            budget=request.budget,
            num_tokens=len(bound.features),
            num_prefix=num_prefix,
            generator=generator_for(request.seed, "targets", str(split.sample_ids[image])),
        )
        checks = _checks(request, diagnosis, operator, bound) if request.checks else {}
        found.append(_Diagnosed(bound.features, diagnosis, checks))
    return found, paths


def _checks(
    request: TargetRequest, diagnosis: Diagnosis, operator: LinearOperator, bound: BoundDecoder
) -> dict[str, BoundCheck]:
    with torch.no_grad():
        metric = output_metric(request.decoder.metric, bound(bound.features))
    return bound_checks(diagnosis, operator, bound, metric=metric)


def _arrays(found: Sequence[Diagnosis], *, rank: int, storage: str) -> dict[str, np.ndarray]:
    """Return the stored arrays of some images, rows first; directions that a Jacobian has not are zero."""
    return {
        "right_vectors": np.stack([_filled(each.right_NDR, rank) for each in found]).astype(storage),
        "singular_values": np.stack([_filled(each.singular_values_R, rank) for each in found]).astype(
            np.float64
        ),
        "num_found": np.array([each.rank for each in found], dtype=np.int64),
        "token_energy": _stacked([each.energy_N for each in found]),
        "importance": _stacked([each.importance_N for each in found]),
        "block_norms": _stacked([each.block_norms_N for each in found]),
        "block_norms_stderr": _stacked([each.block_norms_stderr_N for each in found]),
        "norm_squared": np.array([each.norm.value for each in found], dtype=np.float64),
        "norm_squared_stderr": np.array([each.norm_stderr for each in found], dtype=np.float64),
    }


def _filled(array: Tensor, rank: int) -> np.ndarray:
    """Return an array whose last axis is R long, with zeros where there is nothing."""
    given = array.cpu().numpy()
    return np.pad(given, [(0, 0)] * (given.ndim - 1) + [(0, rank - given.shape[-1])])


def _stacked(arrays: Sequence[Tensor]) -> np.ndarray:
    return np.stack([array.cpu().numpy() for array in arrays]).astype(np.float64)


def _marker(store: TargetStore, request: TargetRequest) -> dict[str, Any] | None:
    """Return the range's done-marker; a damaged one, or one without its figures, counts as absent, so that the range is written again."""
    try:
        marker = store.marker(request.split, request.start)
        if marker is not None:
            read_figures(store, request.split, request.start)
        return marker
    except CorruptData:
        return None
