"""Token importance of many pictures under a real backbone, by products with J^T alone.   N = tokens, D = width.

The decoder is the class token of DINOv2 ViT-S/14 after blocks 11 and 12 and the final norm; labels are its untruncated block norms. Pictures are square crops of the
photographs that come inside scikit-image and scikit-learn, half to all of the shorter side of a quarter of one. Four photographs are never trained on, two others decide which
epoch is best, and of the remaining thirteen one quarter each is kept for testing: so both kinds of held-out pictures are there, other parts of what was seen and what was not.
Thirteen photographs are few; as any picture can be labelled, four in five training pictures are rendered, made of several crops, or of other
colours.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from PIL import Image
from torch import Tensor

from vitgeom.backbones import Backbone, load_backbone
from vitgeom.data.photos.photographs import PHOTOGRAPHS, Photograph, load_photograph
from vitgeom.data.scenes import render_scene
from vitgeom.decoders import cls_decoder
from vitgeom.linop import blocks_jacobian
from vitgeom.randnla import row_block_norms
from vitgeom.seeding import derive_seed, generator_for

LAYER, PROBES = 10, 48
UNSEEN = ("cat", "flower", "motorcycle", "rocket")
VALIDATION = ("camera", "coffee")
PARTS = ("train", "validation", "seen", "unseen")
TESTED_QUARTER = 3
"""Of a photograph that is trained on: bottom right."""
SMALLEST, SIDE = 0.5, 224
KINDS = ("plain", "recoloured", "mosaic", "blend", "scene")
"""Of training pictures, in turn."""


@dataclass(frozen=True)
class Labelled:
    """Pictures with the importance of their tokens.

    Attributes:
        features: [n, N, D] tokens after layer 10, in half precision.
        block_norms: [n, N].
        seconds: What labelling took, backbone included.
    """

    features: Tensor
    block_norms: Tensor
    seconds: float

    def first(self, count: int) -> dict[str, Tensor]:
        """Return the first pictures as examples."""
        return {"features": self.features[:count], "importance": self.block_norms[:count]}


def pictures(part: str, *, seed: int = 0) -> Iterator[Image.Image]:
    """Yield crops of a part without end, photograph by photograph in turn.

    Args:
        part: "train", "validation", "seen" (the last quarter of what is trained on) or "unseen".
        seed: Draws the crops.
    """
    generator = np.random.default_rng(derive_seed(seed, "importance pictures", part))
    quarters = {"train": range(TESTED_QUARTER), "seen": (TESTED_QUARTER,)}.get(part, range(4))
    shown = [each for each in PHOTOGRAPHS if _part_of(each) == {"seen": "train"}.get(part, part)]

    def crop(photograph: Photograph) -> Image.Image:
        return _crop(load_photograph(photograph), int(generator.choice(list(quarters))), generator)

    for number, photograph in enumerate(itertools.cycle(shown)):
        # Thirteen photographs and five kinds: all meet all.
        kind = KINDS[number % len(KINDS)] if part == "train" else "plain"
        if kind == "scene":
            yield Image.fromarray(render_scene(seed, number, stream="importance", size=SIDE).image)
        elif kind == "mosaic":
            others = generator.choice(len(shown), size=3)
            yield _mosaic([crop(photograph), *(crop(shown[other]) for other in others)], generator)
        elif kind == "blend":
            yield Image.blend(
                *(
                    crop(each).resize((SIDE, SIDE))
                    for each in (photograph, shown[generator.integers(len(shown))])
                ),
                alpha=0.5,
            )
        else:
            yield crop(photograph) if kind == "plain" else _recoloured(crop(photograph), generator)


def _mosaic(crops: list[Image.Image], generator: np.random.Generator) -> Image.Image:
    """Four crops that meet at a point drawn from the middle half."""
    x, y = (int(generator.integers(SIDE // 4, 3 * SIDE // 4)) for _ in range(2))
    whole = Image.new("RGB", (SIDE, SIDE))
    boxes = ((0, 0, x, y), (x, 0, SIDE, y), (0, y, x, SIDE), (x, y, SIDE, SIDE))
    for crop, (left, top, right, bottom) in zip(crops, boxes, strict=True):
        whole.paste(crop.resize((right - left, bottom - top)), (left, top))
    return whole


def _recoloured(crop: Image.Image, generator: np.random.Generator) -> Image.Image:
    """Turned by a multiple of 90 degrees, channels in another order, another gamma and contrast."""
    values = np.asarray(crop, dtype=np.float64)[:, :, generator.permutation(3)] / 255
    values = values ** np.exp(generator.uniform(-0.7, 0.7)) * generator.uniform(0.5, 1) + generator.uniform(
        0, 0.3
    )
    turned = np.rot90(values, int(generator.integers(4)))
    return Image.fromarray((255 * turned.clip(0, 1)).astype(np.uint8))


def _part_of(photograph: Photograph) -> str:
    return (
        "unseen" if photograph.name in UNSEEN else "validation" if photograph.name in VALIDATION else "train"
    )


def _crop(image: Image.Image, quarter: int, generator: np.random.Generator) -> Image.Image:
    width, height = image.width // 2, image.height // 2
    side = round(min(width, height) * generator.uniform(SMALLEST, 1))
    left = quarter % 2 * width + int(generator.integers(width - side + 1))
    top = quarter // 2 * height + int(generator.integers(height - side + 1))
    return image.crop((left, top, left + side, top + side))


def labelled(
    file: str, part: str, *, most: int, seconds: float = float("inf"), probes: int = PROBES, seed: int = 0
) -> Labelled:
    """Run the backbone on pictures and estimate the importance of their tokens.

    Args:
        file: Weights of the backbone.
        part: Of :func:`pictures`.
        most: Stop after so many pictures.
        seconds: Stop after so long.
        probes: Products with J^T per picture.
        seed: Of the probes; the pictures are the same ones.
    """
    began = time.perf_counter()
    backbone = backbone_of(file)
    decoder = cls_decoder(backbone, layer=LAYER)
    features, norms = [], []
    for row, picture in zip(range(most), pictures(part), strict=False):
        bound = decoder.at(backbone.preprocess(picture))
        # Every operator is built the same way: the first one's check against the model speaks for all.
        operator = blocks_jacobian(backbone, bound.features, start=LAYER, readout="cls", check=row == 0)
        found = row_block_norms(
            operator,
            num_blocks=len(bound.features),
            num_probes=probes,
            generator=generator_for(seed, "labels", part, row),
        )
        features.append(bound.features.half())
        norms.append(found.squared_T.sqrt().float())
        if time.perf_counter() - began > seconds:
            break
    return Labelled(torch.stack(features), torch.stack(norms), time.perf_counter() - began)


def backbone_of(file: str) -> Backbone:
    """Return the backbone at 224 pixels.

    Args:
        file: Its weights.
    """
    return load_backbone(file, architecture="vit_small_patch14_dinov2.lvd142m", image_size=224)
