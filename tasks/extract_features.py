"""Task: layer features of one range of rows, from images to committed chunks.

n = rows, L = layers, K = layers of which all tokens are stored, N = tokens, D = width.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tasks.decoding import image_batches
from tasks.failure import StorageOverflow, WorkerOutOfMemory
from tasks.footprint import peak_bytes
from tasks.opened import opened_backbone, opened_images
from tasks.range_receipt import range_receipt
from tasks.receipt import Receipt
from tasks.request import ExtractRequest
from tasks.shards import batches
from vitgeom.backbones import Backbone
from vitgeom.data import Split
from vitgeom.errors import CorruptData
from vitgeom.store.features import FeatureStore, open_features
from vitgeom.store.uri import Root

PROCESS_BYTES = 3 * 2**29
"""Python with torch, timm, Zarr and Ray loaded, and a small data set; how much of the libraries is resident differs by machine."""

ACTIVATION_COPIES = 24
"""Numbers of width D per token alive at once in a block: residual, norm, q, k, v, attention, two hidden layers of 4 D each, and
what the allocator keeps."""


def run(request: ExtractRequest) -> Receipt:
    """Compute and commit one range unless it is there already.

    Args:
        request: Rows [start, stop) of one split, exactly one range of the store.

    Returns:
        Digest of the range; ``detail`` counts the images that were computed again in wider arithmetic.

    Raises:
        InvalidInput: Data or weights are others than planned; the token does not exist; a file cannot be read any more.
        StorageOverflow: A feature is too large for the store's number format.
        WorkerOutOfMemory: The batch does not fit the device.
    """
    store = open_features(Root(request.store), request.address)
    marker = _marker(store, request)
    if marker is not None:
        return range_receipt(request, marker, cached=True)
    began = time.perf_counter()
    split = opened_images(request.dataset, digest=store.description["dataset"]).splits[request.split]
    backbone = opened_backbone(
        request.backbone, device=request.device, weights_digest=store.description["weights"]
    )
    backbone.spec.check_tokens(store.description["tokens"])
    with torch_threads(request.threads), memory_errors(request):
        features, recomputed = _features(request, store, split, backbone)
    arrays = {**features, **_identity(request, split)}
    store.write_range(
        request.split,
        request.start,
        request.stop,
        arrays,
        seconds=time.perf_counter() - began,
        notes={"recomputed": recomputed},
        peak_bytes=peak_bytes(),
    )
    written = _marker(store, request)
    assert written is not None, "a range that was written has its marker"
    return range_receipt(request, written, cached=False)


def memory(request: ExtractRequest) -> int:
    """Return an upper estimate of the peak bytes of a process that runs one such unit.

    Two batches of pixels (one decoded ahead) and their copies, one block's activations, the layers of one batch, one range
    of features and its encoded chunks, and the weights twice (file and model). Where all tokens of K layers are stored: those of one
    batch as captured, narrowed and compared, and those of one range with their encoded chunks.
    """
    size, batch, rows = request.footprint, request.batch_size, request.stop - request.start
    images = 3 * batch * 3 * size.image_pixels * 4
    activations = batch * size.num_tokens * size.width * 4 * ACTIVATION_COPIES
    layers = 4 * batch * size.num_layers * size.width * 4
    features = 2 * 2 * rows * (size.num_layers + 1) * size.width * 4
    tokens = (2 * rows + 3 * batch) * size.token_layers * size.num_tokens * size.width * 4
    return PROCESS_BYTES + 2 * size.weight_bytes + images + activations + layers + features + tokens


def halve_batch(request: ExtractRequest) -> ExtractRequest:
    """Return the same unit with half the batch, for a device that ran out of memory."""
    return request.model_copy(update={"batch_size": max(1, request.batch_size // 2)})


def _features(
    request: ExtractRequest, store: FeatureStore, split: Split, backbone: Backbone
) -> tuple[dict[str, np.ndarray], int]:
    """Return the stored arrays of this range, in storage type, and how many images were computed twice."""
    dtype = getattr(torch, store.description["storage"])
    wanted = {spec.name for spec in store.layout.specs}
    count = request.stop - request.start
    stored: dict[str, Tensor] = {}
    recomputed = 0
    rows = list(batches(request.start, request.stop, size=request.batch_size))
    images = image_batches(split, preprocess=backbone.preprocess, rows=rows, name=request.split)
    for (first, last), images_B3HW in zip(rows, images, strict=True):
        capture = backbone.capture(images_B3HW, precision=request.precision, token_layers=store.token_layers)
        recomputed += capture.recomputed
        for name, wide in capture.tensors().items():
            if name not in wanted:
                continue
            narrow = wide.to("cpu", dtype)
            check_fits(
                narrow,
                wide,
                name=name,
                split=request.split,
                first_row=first,
                token_layers=store.token_layers,
            )
            if name not in stored:
                stored[name] = torch.empty((count, *narrow.shape[1:]), dtype=dtype)
            stored[name][first - request.start : last - request.start] = narrow
    return {name: tensor.numpy() for name, tensor in stored.items()}, recomputed


def check_fits(
    narrow: Tensor,
    wide: Tensor,
    *,
    name: str,
    split: str,
    first_row: int,
    token_layers: Sequence[int] = (),
) -> None:
    """Refuse features that became infinite in the storage type.

    Args:
        narrow: [B, K, N, D], [B, L, D] or [B, D] in storage type.
        wide: The same before the conversion.
        name: Of the array.
        split: Of the data set.
        first_row: Row of the first image.
        token_layers: The K layers, from 0.

    Raises:
        StorageOverflow: Row, layer and magnitude are named.
    """
    finite = torch.isfinite(narrow)
    if bool(finite.all()):
        return
    where = torch.nonzero(~finite)[0].tolist()
    layer = _layer_of(where, token_layers)
    largest = float(wide.abs().max())
    raise StorageOverflow(
        f"storage={str(narrow.dtype).removeprefix('torch.')!r} cannot hold {name} of row {first_row + where[0]} of split "
        f"{split!r}{layer}: values reach {largest:.3g}, its largest number is {torch.finfo(narrow.dtype).max:g}. Use storage='float32'."
    )


def _layer_of(where: Sequence[int], token_layers: Sequence[int]) -> str:
    """Name the layer of a place [image, layer, ...] for a message, counted from 1; "" for an array without layers."""
    if len(where) < 3:
        return ""
    return f", layer {(token_layers[where[1]] if len(where) == 4 else where[1]) + 1}"


def _identity(request: ExtractRequest, split: Split) -> dict[str, np.ndarray | list[str]]:
    rows = slice(request.start, request.stop)
    ids = [split.sample_ids[row] for row in range(request.start, request.stop)]
    return {"label": split.labels[rows], "group": split.groups[rows], "sample_id": ids}


def _marker(store: FeatureStore, request: ExtractRequest) -> dict[str, Any] | None:
    """Return the range's done-marker; a damaged one counts as absent, so that the range is written again."""
    try:
        return store.marker(request.split, request.start)
    except CorruptData:
        return None


@contextmanager
def torch_threads(count: int) -> Iterator[None]:
    """Compute with ``count`` threads inside the block.

    Args:
        count: Threads of one torch operation.
    """
    before = torch.get_num_threads()
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


@contextmanager
def memory_errors(request: ExtractRequest) -> Iterator[None]:
    """Tell a device that is full from other failures, so that the driver can try a smaller batch."""
    try:
        yield
    except torch.OutOfMemoryError as error:
        raise WorkerOutOfMemory(
            f"batch_size={request.batch_size} does not fit into the memory of device {request.device!r}. Use a smaller batch_size."
        ) from error
