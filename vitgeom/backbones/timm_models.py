"""The door to timm: which of its models are supported, how one is built, and how its pictures are prepared.

Importing timm takes seconds, so this module is imported only when a backbone is opened.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, cast

import timm
import torch
from PIL import Image
from timm.data import create_transform, resolve_data_config
from timm.models import deit, eva, vision_transformer, vision_transformer_hybrid
from torch import Tensor, nn

from vitgeom.backbones.anatomy import Anatomy, PlainAnatomy, RotaryAnatomy
from vitgeom.errors import InvalidInput, UnknownName

FAMILIES = {
    "vision_transformer": PlainAnatomy,
    "deit": PlainAnatomy,
    "vision_transformer_hybrid": PlainAnatomy,
    "eva": RotaryAnatomy,
}
KEY_CONVERTERS: dict[str, Callable[..., dict[str, Tensor]]] = {
    "vision_transformer": vision_transformer.checkpoint_filter_fn,
    "deit": lambda state, model: deit.checkpoint_filter_fn(state, model, adapt_layer_scale=True),
    "vision_transformer_hybrid": vision_transformer_hybrid.checkpoint_filter_fn,
    "eva": eva.checkpoint_filter_fn,
}


def family_of(architecture: str, *, embedded: tuple[str, ...] = ()) -> str:
    """Return the family (timm module) of a supported architecture name.

    Args:
        architecture: timm model name, with or without a weights tag.
        embedded: Further names to suggest for an unknown one.

    Raises:
        UnknownName: timm has no such model, or the model no such weights tag.
        InvalidInput: The model is no plain sequence of blocks over one set of tokens.
    """
    base = architecture.split(".")[0]
    if not timm.is_model(base):
        supported = [name for family in FAMILIES for name in timm.list_models(module=family)]
        close = difflib.get_close_matches(base, supported, n=6, cutoff=0.3)
        raise UnknownName(
            "backbone",
            architecture,
            [*embedded, *close],
            hint="Any other timm ViT name or a checkpoint file works too.",
        )
    family = timm.model_entrypoint(base).__module__.rsplit(".", 1)[-1]
    if family not in FAMILIES:
        raise InvalidInput(
            f"backbone {architecture!r} is no plain Vision Transformer (it lives in timm.models.{family}): vitgeom needs one sequence "
            f"of blocks over one fixed set of tokens. Use a model of timm.models.{', '.join(FAMILIES)}; timm.list_models(module=...) lists them."
        )
    _require_tag(architecture)
    return family


def _require_tag(architecture: str) -> None:
    """Refuse a weights tag that timm does not know for the model: building it would fail even with random weights."""
    base, _, tag = architecture.partition(".")
    if not tag:
        return
    try:
        timm.models.get_pretrained_cfg(architecture)
    except RuntimeError as error:
        raise UnknownName(
            "weights tag",
            tag,
            _tags(base) or ["(none published)"],
            hint=f"They are the tags of {base!r}; without a tag it is the name of the architecture alone.",
        ) from error


def _tags(base: str) -> list[str]:
    names = (name.partition(".") for name in timm.list_pretrained(f"{base}.*"))
    return [tag for name, _, tag in names if name == base]


def build(architecture: str, *, seed: int, pretrained: bool = False) -> nn.Module:
    """Build a model at its native image size without a classifier; the global random state stays as it was.

    Args:
        architecture: timm name of a supported family.
        seed: Draws the initial weights.
        pretrained: Let timm fetch the weights of the name's tag.

    Raises:
        InvalidInput: The name gives a class of model that cannot be taken apart.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = timm.create_model(architecture, pretrained=pretrained, num_classes=0, dynamic_img_size=False)
    if not isinstance(model, vision_transformer.VisionTransformer | eva.Eva):
        raise InvalidInput(
            f"backbone {architecture!r} builds a {type(model).__name__}, which vitgeom cannot take apart into blocks."
        )
    return cast(nn.Module, model)


def build_plain(settings: dict[str, Any], data_config: dict[str, Any], *, seed: int) -> nn.Module:
    """Build a ViT that has no timm name from its constructor's arguments; the global random state stays as it was.

    Args:
        settings: Keyword arguments of timm's ``VisionTransformer``.
        data_config: What timm calls ``pretrained_cfg``: input size, crop, interpolation, mean, std.
        seed: Draws the initial weights.
    """
    with torch.random.fork_rng(devices=[]):
        torch.default_generator.manual_seed(seed)
        model = vision_transformer.VisionTransformer(**settings)
    cast(Any, model).pretrained_cfg = data_config
    return model


def plain_block(width: int, *, num_heads: int, mlp_ratio: float) -> nn.Module:
    """Return one transformer block of a plain ViT with fresh weights.

    Args:
        width: D.
        num_heads: Divides the width.
        mlp_ratio: Hidden width of its MLP over D.
    """
    return vision_transformer.Block(width, num_heads, mlp_ratio=mlp_ratio, qkv_bias=True)


def anatomy_of(model: nn.Module) -> Anatomy:
    """Return the parts of a model.

    Args:
        model: A timm ViT of a supported family.
    """
    return RotaryAnatomy(model) if isinstance(model, eva.Eva) else PlainAnatomy(model)


def convert_keys(state: dict[str, Tensor], model: nn.Module, *, family: str) -> dict[str, Tensor]:
    """Rename a published state dict to timm's names, and fit its position embedding to the model's grid.

    Args:
        state: Tensors by name, in any naming that timm knows for the family.
        model: The model they are meant for.
        family: As ``family_of`` returns.
    """
    return KEY_CONVERTERS[family](state, model)


def published_at(architecture: str) -> dict[str, str]:
    """Return where the weights of a name are published: any of ``hub_id``, ``filename`` and ``url``; empty if nowhere.

    Args:
        architecture: timm name, with or without a weights tag.

    Raises:
        UnknownName: The tag is not one of the model's; its tags are named.
    """
    _require_tag(architecture)
    config = timm.models.get_pretrained_cfg(architecture)
    if config is None:
        return {}
    found: dict[str, Any] = {
        "hub_id": config.hf_hub_id,
        "filename": config.hf_hub_filename,
        "url": config.url if "://" in (config.url or "") else None,
    }
    return {key: value for key, value in found.items() if value}


def resolved_data_config(data_config: dict[str, Any], *, image_size: tuple[int, int]) -> dict[str, Any]:
    """Fill in what a model's data configuration leaves open, at another image size.

    Args:
        data_config: The model's ``pretrained_cfg``.
        image_size: (height, width) in pixels.
    """
    resolved = resolve_data_config({"input_size": (3, *image_size)}, pretrained_cfg=data_config)
    return {**resolved, "mean": tuple(resolved["mean"]), "std": tuple(resolved["std"])}


def evaluation_transform(data_config: dict[str, Any]) -> Callable[[Image.Image], Tensor]:
    """Return timm's transform from an RGB picture to normalised pixels, without augmentation.

    Args:
        data_config: What ``resolved_data_config`` returned.
    """
    return create_transform(**data_config, is_training=False)
