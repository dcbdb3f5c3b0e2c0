"""What an extraction has to do: its address, its empty store, and one request per range that is still missing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from tasks.opened import opened_backbone, opened_images
from tasks.request import ExtractRequest, ExtractSettings, Footprint
from tasks.shards import rows_per_range
from tasks.token_layers import layers_from_zero
from vitgeom.backbones import Backbone, BackboneRef
from vitgeom.data import DatasetRef, LabelledImages, Quarantined
from vitgeom.store.address import FeatureAddress, describe_features
from vitgeom.store.declaration import DECLARATION
from vitgeom.store.features import FeatureStore, create_features, open_features
from vitgeom.store.sample_ids import widest_id
from vitgeom.store.uri import Root

_ITEMSIZE = {"float32": 4, "float16": 2}


@dataclass(frozen=True)
class ExtractionPlan:
    """The work of one (data set, backbone) pair.

    Attributes:
        store: URI of the store's root.
        address: Path of the features below the root.
        label: ``data set/backbone``, for progress lines and messages.
        description: What determines the numbers; its fingerprint is the address.
        requests: One per missing range; empty when all is there.
        total_ranges: Ranges of the whole store.
        num_images: Images of all splits.
        classes: Original labels; the index is the stored label.
        quarantine: Files of the data set that cannot be used.
        storage: Number format of the stored features.
        num_bytes: Of the stored values of the whole store.
    """

    store: str
    address: str
    label: str
    description: dict[str, Any]
    requests: tuple[ExtractRequest, ...]
    total_ranges: int
    num_images: int
    classes: tuple[str, ...]
    quarantine: tuple[Quarantined, ...]
    storage: str
    num_bytes: int
    dataset: dict[str, Any] = field(repr=False)
    backbone: dict[str, Any] = field(repr=False)

    @property
    def num_missing(self) -> int:
        """Images of the ranges that are still missing."""
        return sum(request.stop - request.start for request in self.requests)


def plan(
    dataset: DatasetRef, backbone: BackboneRef, *, store: str, settings: ExtractSettings
) -> ExtractionPlan:
    """Open data and weights, make the empty store at their address, and list what is missing.

    Planning again changes nothing. Where a store with other rows per range is at the address already, its ranges are kept:
    they are the same numbers in other pieces.

    Args:
        dataset: What to read; a test set under shift has the split ``test`` alone.
        backbone: What to run; ``settings.image_size`` is added to its options.
        store: URI of the store's root.
        settings: How.

    Raises:
        InvalidInput: The backbone lacks a token or a layer, the image size is illegal, a split is empty; before any image is decoded.
        StoreError: The store cannot be used.
    """
    backbone = backbone.at_size(settings.image_size)
    data = opened_images(dataset.to_json())
    model = opened_backbone(backbone.to_json(), device="cpu")
    model.spec.check_tokens(settings.tokens)
    token_layers = layers_from_zero(settings.token_layers, spec=model.spec)
    description = describe_features(
        dataset_digest=data.digest,
        weights_digest=model.spec.weights_digest,
        preprocessing=model.spec.preprocessing,
        precision=settings.precision,
        storage_dtype=settings.storage,
        tokens=settings.tokens,
        token_layers=token_layers,
    )
    address = FeatureAddress.of(description, dataset=dataset.slug, backbone=backbone.slug)
    features = _store(
        Root(store),
        address,
        description,
        data=data,
        model=model,
        settings=settings,
        token_layers=token_layers,
    )
    return ExtractionPlan(
        store=store,
        address=address.path,
        label=f"{dataset.slug}/{backbone.slug}",
        description=description,
        requests=tuple(_requests(features, store, dataset, backbone, model=model, settings=settings)),
        total_ranges=sum(len(features.ranges(split)) for split in features.splits),
        num_images=sum(features.splits.values()),
        classes=data.classes,
        quarantine=data.quarantine,
        storage=settings.storage,
        num_bytes=features.layout.num_bytes,
        dataset=dataset.to_json(),
        backbone=backbone.to_json(),
    )


def _store(
    root: Root,
    address: FeatureAddress,
    description: dict[str, Any],
    *,
    data: LabelledImages,
    model: Backbone,
    settings: ExtractSettings,
    token_layers: tuple[int, ...],
) -> FeatureStore:
    """Create the empty store, or return what is there with the ranges that it has."""
    counts = {name: len(split) for name, split in data.splits.items()}
    there = open_features(root, address.path) if root.join(address.path).exists(DECLARATION) else None
    rows = there.rows_per_range if there else settings.rows_per_range
    return create_features(
        root,
        address,
        description=description,
        splits=counts,
        num_layers=model.spec.num_blocks,
        width=model.spec.width,
        storage_dtype=settings.storage,
        rows_per_range=rows
        or rows_per_range(max(counts.values()), width=model.spec.width, itemsize=_ITEMSIZE[settings.storage]),
        sample_id_width=max(widest_id(split.sample_ids) for split in data.splits.values()),
        tokens=settings.tokens,
        token_layers=token_layers,
        num_tokens=model.spec.layout.num_tokens if token_layers else 0,
    )


def _requests(
    features: FeatureStore,
    store: str,
    dataset: DatasetRef,
    backbone: BackboneRef,
    *,
    model: Backbone,
    settings: ExtractSettings,
) -> Iterator[ExtractRequest]:
    footprint = _footprint(model, token_layers=len(settings.token_layers))
    for split, start, stop in features.missing():
        yield ExtractRequest(
            store=store,
            address=features.address_path,
            split=split,
            start=start,
            stop=stop,
            dataset=dataset.to_json(),
            backbone=backbone.to_json(),
            precision=settings.precision,
            batch_size=settings.batch_size,
            device=settings.device,
            threads=settings.threads,
            footprint=footprint,
        )


def _footprint(model: Backbone, *, token_layers: int) -> Footprint:
    spec = model.spec
    return Footprint(
        num_layers=spec.num_blocks,
        width=spec.width,
        num_tokens=spec.layout.num_tokens,
        token_layers=token_layers,
        image_pixels=spec.image_size[0] * spec.image_size[1],
        weight_bytes=sum(
            tensor.numel() * tensor.element_size() for tensor in model.model.state_dict().values()
        ),
    )
