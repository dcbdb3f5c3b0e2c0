"""What a set of targets has to do: its address, its empty store, and one request per range that is still missing."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from tasks.opened import opened_backbone, opened_images
from tasks.opened_decoder import opened_decoder
from tasks.target_images import spread_images
from tasks.target_request import DecoderRef, TargetFootprint, TargetRequest, TargetSettings
from vitgeom.backbones import Backbone, BackboneRef
from vitgeom.data import DatasetRef, LabelledImages
from vitgeom.decoders.embedded_heads import SCENE_HEADS, head_path
from vitgeom.errors import CorruptData, InvalidInput
from vitgeom.store.address import TargetAddress, describe_targets
from vitgeom.store.declaration import DECLARATION
from vitgeom.store.figures import read_figures
from vitgeom.store.sample_ids import widest_id
from vitgeom.store.targets import TargetStore, create_targets, open_targets
from vitgeom.store.uri import Root


@dataclass(frozen=True)
class TargetPlan:
    """The work of one decoder at one layer of one backbone on one dataset.

    Attributes:
        store: URI of the store's root.
        address: Path of the targets below the root.
        label: ``dataset/backbone decoder``, for progress lines and messages.
        requests: One per missing range; empty when all is there.
        total_ranges: Ranges of the whole store.
        num_images: Images of all splits together.
        fewer: By split where it has fewer images than were asked for, how many it has.
    """

    store: str
    address: str
    label: str
    requests: tuple[TargetRequest, ...]
    total_ranges: int
    num_images: int
    fewer: Mapping[str, int]

    @property
    def num_missing(self) -> int:
        """Images of the ranges that are still missing."""
        return sum(request.stop - request.start for request in self.requests)


def plan_targets(
    dataset: DatasetRef,
    backbone: BackboneRef,
    decoder: DecoderRef,
    *,
    store: str,
    settings: TargetSettings,
) -> TargetPlan:
    """Open data, weights and head, make the empty store at their address, and list what is missing.

    Planning again changes nothing. Where a store with other rows per range is at the address already, its ranges are kept.

    Args:
        dataset: What to read.
        backbone: What to run; ``settings.image_size`` is added to its options.
        decoder: Which one, and where its features are taken.
        store: URI of the store's root.
        settings: How.

    Raises:
        UnknownName: There is no such decoder or split.
        InvalidInput: The backbone has no such layer or no head for it; the rank exceeds what a Jacobian can have.
        StoreError: The store cannot be used.
    """
    backbone = backbone.at_size(settings.image_size)
    data = opened_images(dataset.to_json())
    model = opened_backbone(backbone.to_json(), device="cpu")
    # Refuses what cannot be, before anything is made.
    tokens_shape = opened_decoder(decoder, model, store=store).features_shape
    images = {
        split: spread_images(_rows(data, split), count=settings.images_of(split)) for split in settings.splits
    }
    description = describe_targets(
        dataset_digest=data.digest,
        weights_digest=model.spec.weights_digest,
        preprocessing=model.spec.preprocessing,
        decoder={**decoder.to_json(), "head": _head_digest(decoder.name, model)},
        recipe={
            **settings.model_dump(include={"rank", "recipe", "budget", "seed", "checks"}),
            "images": {split: list(rows) for split, rows in images.items()},
        },
        storage_dtype=settings.storage,
    )
    address = TargetAddress.of(
        description, dataset=dataset.slug, backbone=backbone.slug, decoder=decoder.label
    )
    targets = _store(
        Root(store),
        address,
        description,
        data=data,
        tokens_shape=tokens_shape,
        images=images,
        settings=settings,
    )
    footprint = _footprint(model, tokens_shape)
    return TargetPlan(
        store=store,
        address=address.path,
        label=f"{dataset.slug}/{backbone.slug} {decoder.label}",
        requests=tuple(
            TargetRequest(
                store=store,
                address=address.path,
                split=split,
                start=start,
                stop=stop,
                images=images[split][start:stop],
                dataset=dataset.to_json(),
                backbone=backbone.to_json(),
                decoder=decoder,
                footprint=footprint,
                **settings.model_dump(
                    include={"rank", "recipe", "budget", "seed", "checks", "max_bytes", "device", "threads"}
                ),
            )
            for split, start, stop in _missing(targets)
        ),
        total_ranges=sum(len(targets.ranges(split)) for split in targets.splits),
        num_images=sum(targets.splits.values()),
        fewer={split: len(rows) for split, rows in images.items() if len(rows) < settings.images_of(split)},
    )


def _rows(data: LabelledImages, split: str) -> int:
    if split not in data.splits:
        raise InvalidInput(f"dataset has no split {split!r}; it has {', '.join(data.splits)}.")
    return len(data.splits[split])


def _store(
    root: Root,
    address: TargetAddress,
    description: dict[str, Any],
    *,
    data: LabelledImages,
    tokens_shape: tuple[int, int],
    images: dict[str, tuple[int, ...]],
    settings: TargetSettings,
) -> TargetStore:
    """Create the empty store, or return what is there with the ranges that it has."""
    there = open_targets(root, address.path) if root.join(address.path).exists(DECLARATION) else None
    return create_targets(
        root,
        address,
        description=description,
        splits={split: len(rows) for split, rows in images.items()},
        num_tokens=tokens_shape[0],
        width=tokens_shape[1],
        rank=settings.rank,
        storage_dtype=settings.storage,
        rows_per_range=there.rows_per_range if there else settings.rows_per_range,
        sample_id_width=max(
            widest_id([data.splits[split].sample_ids[row] for row in rows]) for split, rows in images.items()
        ),
    )


def _missing(store: TargetStore) -> Iterator[tuple[str, int, int]]:
    """Yield the ranges without marker, and those whose figures are lost."""
    gone = set(store.missing())
    for split in store.splits:
        for start, stop in store.ranges(split):
            if (split, start, stop) in gone or not _has_figures(store, split, start):
                yield split, start, stop


def _has_figures(store: TargetStore, split: str, start: int) -> bool:
    try:
        read_figures(store, split, start)
    except CorruptData:
        return False
    return True


def _head_digest(name: str, backbone: Backbone) -> str | None:
    """Return the SHA-256 of the head that comes with the package; None for decoders without one."""
    if name not in SCENE_HEADS:
        return None
    return hashlib.sha256(head_path(name, backbone.spec.architecture).read_bytes()).hexdigest()


def _footprint(model: Backbone, tokens_shape: tuple[int, int]) -> TargetFootprint:
    spec = model.spec
    return TargetFootprint(
        num_layers=spec.num_blocks,
        num_tokens=max(spec.layout.num_tokens, tokens_shape[0]),
        width=max(spec.width, tokens_shape[1]),
        image_pixels=spec.image_size[0] * spec.image_size[1],
        weight_bytes=sum(
            tensor.numel() * tensor.element_size() for tensor in model.model.state_dict().values()
        ),
    )
