"""What the targets of one cell come to: per decoder and layer the figures over images with intervals, and the token maps of a few of them.

n = images, N = tokens, R = directions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tasks.metric_agreement import metric_agreements
from tasks.opened import opened_images
from tasks.pictures import small_pictures
from tasks.receipt import Receipt
from tasks.stored_results import json_bytes
from tasks.target_request import DecoderRef
from vitgeom.backbones import Backbone
from vitgeom.data import DatasetRef, LabelledImages
from vitgeom.seeding import generator_for
from vitgeom.spectra.dataset import ImageFigures, aggregate
from vitgeom.store.figures import read_figures
from vitgeom.store.fingerprint import fingerprint
from vitgeom.store.targets import TargetStore, open_targets
from vitgeom.store.uri import Root

SHOWN = 3
"""Images whose token maps are kept."""
SPLIT = "test"
PER_IMAGE = (
    "sample",
    "image",
    "kappa",
    "norm",
    "variation",
    "variation_weighted",
    "effective_ranks",
    "regime",
    "theorems",
)


def summarise_targets(
    sealed: Mapping[DecoderRef, Receipt],
    *,
    dataset: DatasetRef,
    backbone: Backbone,
    store: str,
    num_bootstrap: int,
    seed: int,
    name: str,
    asked: Mapping[str, Any],
) -> tuple[bytes, Receipt]:
    """Return the results file of one cell, and its receipt.

    Args:
        sealed: Seals of the targets of each decoder.
        dataset: Where the pictures come from.
        backbone: The one that was diagnosed; it says how tokens lie and what it sees of a picture.
        store: URI of the store's root.
        num_bootstrap: Resamples behind each interval over images.
        seed: Decides them.
        name: Of the cell.
        asked: Parameters that the figures were asked for with; kept beside them.

    Raises:
        CorruptData: Figures or arrays of a target are damaged.
        IncompleteData: Targets are not complete.
    """
    opened = {
        decoder: open_targets(Root(store), receipt.detail["address"]) for decoder, receipt in sealed.items()
    }
    pairs = [
        _pair(decoder, opened[decoder], receipt, num_bootstrap, seed) for decoder, receipt in sealed.items()
    ]
    images = opened_images(dataset.to_json())
    content = {
        "of": {"dataset": images.digest, "weights": backbone.spec.weights_digest},
        "tokens": backbone.spec.layout.to_json(),
        "num_bootstrap": num_bootstrap,
        "asked": dict(asked),
        "pairs": pairs,
        "metrics": metric_agreements(opened, num_bootstrap=num_bootstrap, seed=seed),
        "pictures": _pictures(images, backbone, pairs),
    }
    return json_bytes(content), _receipt(sealed, pairs, name=name)


def _pair(
    decoder: DecoderRef,
    targets: TargetStore,
    receipt: Receipt,
    num_bootstrap: int,
    seed: int,
) -> dict[str, Any]:
    manifest = targets.manifest()
    images = [each for start, _ in targets.ranges(SPLIT) for each in read_figures(targets, SPLIT, start)]
    whole = aggregate(
        [ImageFigures.from_json(each["aggregate"]) for each in images],
        num_resamples=num_bootstrap,
        generator=generator_for(seed, "directions", decoder.name, decoder.layer),
    )
    sigma = targets.read(SPLIT, "singular_values")
    return {
        "decoder": decoder.to_json(),
        "shape": images[0]["shape"],
        "rank": targets.layout.rank,
        "recipe": receipt.detail["recipe"],
        "paths": {key: receipt.detail[key] for key in ("jvp_path", "vjp_path")},
        "figures": whole.to_json(),
        "kappa_caps": [each["kappa_caps"] for each in images],
        "singular_values": sigma.tolist(),
        "density": _density(images[0]),
        "images": [{key: each[key] for key in PER_IMAGE} for each in images],
        "advice": _advice(images, whole.regimes),
        "maps": _maps(targets),
        "origin": {"address": targets.address_path, "digest": manifest.digest},
    }


def _density(image: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the spectral density of one image; None where nothing was spent on it."""
    if "density_values" not in image:
        return None
    return {"values": image["density_values"], "counts": image["density_counts"], "sample": image["sample"]}


def _advice(images: list[dict[str, Any]], regimes: Mapping[str, int]) -> dict[str, Any]:
    """Return the commonest regime with the advice that one of its images got."""
    name = max(sorted(regimes), key=lambda each: regimes[each])
    chosen = next(each for each in images if each["regime"]["name"] == name)
    return {"regime": name, "text": chosen["advice"], "sample": chosen["sample"]}


def _maps(targets: TargetStore) -> list[dict[str, Any]]:
    """Return the importance of every token of the first images."""
    rows = list(range(min(SHOWN, targets.splits[SPLIT])))
    importance, blocks = (targets.read(SPLIT, name, rows=rows) for name in ("importance", "block_norms"))
    samples = targets.sample_ids(SPLIT)
    return [
        {
            "sample": samples[row],
            "importance": _rounded(importance[row]),
            "block_norms": _rounded(blocks[row]),
        }
        for row in rows
    ]


def _rounded(values: np.ndarray) -> list[float]:
    """Return values with six digits: what a picture can show, and no more of a file than that."""
    return [float(f"{value:.6g}") for value in values]


def _pictures(images: LabelledImages, backbone: Backbone, pairs: list[dict[str, Any]]) -> dict[str, str]:
    """Return small PNGs, in base64, of what the backbone sees of the images whose maps are shown, by sample id."""
    rows = {each["sample"]: each["image"] for pair in pairs for each in pair["images"]}
    wanted = {each["sample"] for pair in pairs for each in pair["maps"]}
    return small_pictures(images.splits[SPLIT], backbone, {sample: rows[sample] for sample in wanted})


def _receipt(sealed: Mapping[DecoderRef, Receipt], pairs: list[dict[str, Any]], *, name: str) -> Receipt:
    receipts = list(sealed.values())
    return Receipt(
        task="make_targets",
        key=name,
        uri=receipts[0].uri,
        digest=fingerprint([receipt.digest for receipt in receipts]),
        seconds=sum(receipt.detail["compute_seconds"] for receipt in receipts),
        peak_bytes=max(receipt.peak_bytes for receipt in receipts),
        cached=all(receipt.cached for receipt in receipts),
        rows=sum(receipt.rows for receipt in receipts),
        detail={
            "products": sum(receipt.detail["products"] for receipt in receipts),
            "figures": {
                DecoderRef(**pair["decoder"]).label: {
                    figure: None if found is None else found["mean"]["value"]
                    for figure, found in pair["figures"]["figures"].items()
                }
                for pair in pairs
            },
        },
    )
