"""From a name or a file to a frozen, checked backbone."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import torch

from vitgeom.backbones.anatomy import patch_size, read_layout
from vitgeom.backbones.backbone import Backbone
from vitgeom.backbones.device import check_device
from vitgeom.backbones.image_size import ImageSize, as_height_width
from vitgeom.backbones.preprocessing import Preprocessing
from vitgeom.backbones.reference import BackboneRef
from vitgeom.backbones.spec import BackboneSpec
from vitgeom.errors import InvalidInput, NumericalFailure

MAX_DIFFERENCE = 1e-4
DTYPES = (torch.float32, torch.float64)


def load_backbone(
    name_or_path: str | Path,
    *,
    architecture: str | None = None,
    image_size: ImageSize = None,
    pretrained: bool = True,
    seed: int = 0,
    device: str | torch.device = "cpu",
    dtype: torch.dtype = torch.float32,
) -> Backbone:
    """Load a Vision Transformer, freeze it, and check that it computes what its own forward pass computes.

    Args:
        name_or_path: An embedded name (``EMBEDDED``), a timm ViT name (weights from this disk's cache, else from the Hub), or a
            checkpoint file (safetensors, or PyTorch read without running code from it).
        architecture: timm or embedded name of what a checkpoint file holds; not needed if the file's metadata names it.
        image_size: Pixels of a side, or (height, width); None: what the weights were trained at. Position embeddings are
            resampled (bicubic, anti-aliased) to the new grid.
        pretrained: False: random weights drawn from ``seed``; the global random state is left alone.
        seed: Draws random weights.
        device: Where the model lives; it must be there in this process.
        dtype: float32, or float64 for reference computations; narrower arithmetic is an option of ``capture``.

    Returns:
        The frozen backbone. Cost: reading the weights, one digest over them, and two small forward passes.

    Raises:
        UnknownName: No such backbone; the nearest names are given.
        InvalidInput: A device that is not there, unsupported kind of model, illegal image size, weights that do not fit or cannot be had.
        NumericalFailure: The model taken apart does not reproduce its own forward pass.
    """
    from vitgeom.backbones.assemble import assemble  # these bring timm, which takes seconds to import
    from vitgeom.backbones.sources import resolve
    from vitgeom.backbones.timm_models import anatomy_of

    place = check_device(device)
    if dtype not in DTYPES:
        raise InvalidInput(
            f"dtype={dtype} must be torch.float32 or torch.float64; narrower arithmetic is capture(..., precision='bfloat16')."
        )
    source = resolve(name_or_path, architecture=architecture, pretrained=pretrained)
    size = None if image_size is None else as_height_width(image_size)
    model, digest, pos_embed = assemble(source, image_size=size, seed=seed)
    model.to(device=place, dtype=dtype)
    vit = cast(Any, model)
    size = tuple(vit.patch_embed.img_size)
    preprocessing = Preprocessing(vit.pretrained_cfg, image_size=size)
    spec = BackboneSpec(
        name=source.name,
        source=source.note,
        architecture=source.architecture,
        weights_digest=digest,
        num_blocks=len(vit.blocks),
        width=vit.embed_dim,
        image_size=size,
        patch_size=patch_size(model),
        layout=read_layout(model),
        preprocessing=preprocessing.to_json(),
        pos_embed=pos_embed,
    )
    backbone = Backbone(anatomy_of(model), spec, preprocessing)
    refuse_difference(backbone)
    return backbone


def open_backbone(reference: BackboneRef, *, device: str | torch.device = "cpu") -> Backbone:
    """Load what a reference describes.

    Args:
        reference: Name and options.
        device: Where the model lives.
    """
    return load_backbone(reference.name, device=device, **dict(reference.options))


def refuse_difference(backbone: Backbone) -> None:
    """Run the backbone's check and refuse it above the bound.

    Args:
        backbone: A loaded backbone.

    Raises:
        NumericalFailure: The largest relative difference is above 1e-4, or not a number.
    """
    difference = backbone.check()
    if not difference <= MAX_DIFFERENCE:
        raise NumericalFailure(
            f"backbone {backbone.spec.name!r} ({backbone.spec.architecture}) taken apart into blocks differs from its own forward pass "
            f"by {difference:.2g} relative, more than {MAX_DIFFERENCE:g}: its layer features would not be its own. "
            f"Use another model, or report this one with its timm version."
        )
