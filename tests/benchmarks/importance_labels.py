"""Token importance of many photographs under a real backbone, by products with J^T alone.   N = tokens, D = width.

The decoder is the class token of DINOv2 ViT-S/14 after blocks 11 and 12 and the final norm; labels are its untruncated block norms. Four of the nineteen photographs are
left out of training altogether, so that both kinds of held-out images are there: other regions of known photographs, and photographs never seen.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import torch
from torch import Tensor

from vitgeom.backbones import Backbone, load_backbone
from vitgeom.data import DatasetRef, open_dataset
from vitgeom.decoders import cls_decoder
from vitgeom.linop import blocks_jacobian
from vitgeom.randnla import row_block_norms
from vitgeom.seeding import generator_for

LAYER, PROBES = 10, 48
UNSEEN = ("cat", "flower", "motorcycle", "rocket")
"""Photographs of which no crop is in training."""


@dataclass(frozen=True)
class Labelled:
    """Images with the importance of their tokens.

    Attributes:
        features: [n, N, D] tokens after layer 10, in half precision.
        block_norms: [n, N].
        seconds: What labelling took, backbone included.
    """

    features: Tensor
    block_norms: Tensor
    seconds: float


def rows_of(split: str, *, unseen: bool, count: int | None = None) -> list[int]:
    """Return images of a split, of the photographs that training sees or of the others, spread evenly.

    Args:
        split: "train", "val" or "test".
        unseen: Of the photographs left out.
        count: How many; None for all.
    """
    photos = open_dataset(DatasetRef("photos"))
    labels = photos.splits[split].labels
    rows = [row for row, label in enumerate(labels) if (photos.classes[label] in UNSEEN) == unseen]
    if count is None or count >= len(rows):
        return rows
    return [rows[(2 * place + 1) * len(rows) // (2 * count)] for place in range(count)]


def labelled(file: str, split: str, rows: list[int], *, probes: int = PROBES, seed: int = 0) -> Labelled:
    """Run the backbone on images and estimate the importance of their tokens.

    Args:
        file: Weights of the backbone.
        split: Of the photographs.
        rows: Which images of it.
        probes: Products with J^T per image.
        seed: Of the probes.
    """
    began = time.perf_counter()
    backbone = backbone_of(file)
    images = open_dataset(DatasetRef("photos")).splits[split]
    decoder = cls_decoder(backbone, layer=LAYER)
    features, norms = [], []
    for row in rows:
        bound = decoder.at(backbone.preprocess(images.read(row)))
        # Every operator is built the same way: the first one's check against the model speaks for all.
        operator = blocks_jacobian(backbone, bound.features, start=LAYER, readout="cls", check=row == rows[0])
        found = row_block_norms(
            operator,
            num_blocks=len(bound.features),
            num_probes=probes,
            generator=generator_for(seed, "labels", split, row),
        )
        features.append(bound.features.half())
        norms.append(found.squared_T.sqrt().float())
    return Labelled(torch.stack(features), torch.stack(norms), time.perf_counter() - began)


def backbone_of(file: str) -> Backbone:
    """Return the backbone at 224 pixels.

    Args:
        file: Its weights.
    """
    return load_backbone(file, architecture="vit_small_patch14_dinov2.lvd142m", image_size=224)
