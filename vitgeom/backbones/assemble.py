"""A model object with its weights in place, at the image size that was asked for."""

from __future__ import annotations

from typing import Any

from torch import nn

from vitgeom.backbones import checkpoint, embedded, hub, timm_models
from vitgeom.backbones.anatomy import patch_size
from vitgeom.backbones.digest import weights_digest
from vitgeom.backbones.image_size import check_image_size
from vitgeom.backbones.sources import WeightSource
from vitgeom.errors import InvalidInput


def assemble(
    source: WeightSource, *, image_size: tuple[int, int] | None, seed: int
) -> tuple[nn.Module, str, str]:
    """Build the model, put its weights in at their own grid, take their digest, then move to ``image_size``.

    The digest is taken before the position embedding is resampled, because resampled values may differ in the last bit between
    machines and the same weights must have one address everywhere.

    Args:
        source: What to build.
        image_size: (height, width) in pixels; None: what the weights were made for.
        seed: Draws random weights.

    Returns:
        The model, the digest of its weights, and one line about its position embedding.

    Raises:
        InvalidInput: Illegal image size (before any weights are read), or weights that do not fit or cannot be fetched.
    """
    model: Any = _build(source, seed=seed)
    if image_size is not None:
        check_image_size(image_size, patch_size=patch_size(model), name=source.name)
    if source.file is not None:
        _put_file(source, model)
    digest = weights_digest(model.state_dict())
    return model, digest, _move_to(image_size or _native(model), model)


def _build(source: WeightSource, *, seed: int) -> nn.Module:
    if source.architecture in embedded.EMBEDDED:
        return timm_models.build_plain(
            embedded.ARCHITECTURES[source.architecture], embedded.DATA_CONFIG, seed=seed
        )
    try:
        return timm_models.build(source.architecture, seed=seed, pretrained=source.fetch)
    except (OSError, RuntimeError) as error:
        if not source.fetch:
            raise
        raise hub.unavailable(
            source.name, timm_models.published_at(source.name), f"{hub.endpoint()} answered: {error}"
        ) from error


def _put_file(source: WeightSource, model: nn.Module) -> None:
    assert source.file is not None
    state = checkpoint.read_state(source.file)
    native = checkpoint.native_size(state, model)
    if native is not None and native != _native(model):
        _move_to(native, model)
    checkpoint.put_state(
        state,
        model,
        convert=lambda tensors, target: timm_models.convert_keys(tensors, target, family=source.family),
        source=str(source.file),
        architecture=source.architecture,
    )


def _native(model: Any) -> tuple[int, int]:
    height, width = model.patch_embed.img_size
    return int(height), int(width)


def _move_to(image_size: tuple[int, int], model: Any) -> str:
    """Set the image size in place and say what became of the position embedding."""
    before = tuple(model.patch_embed.grid_size)
    if image_size != _native(model):
        try:
            model.set_input_size(img_size=image_size)
        except (AttributeError, TypeError, RuntimeError) as error:
            raise InvalidInput(
                f"image_size={image_size} cannot be set on this model, whose own size is {_native(model)}: {error}."
            ) from error
    after = tuple(model.patch_embed.grid_size)
    kind = "learned" if getattr(model, "pos_embed", None) is not None else "no absolute"
    rotary = ", rotary" if getattr(model, "rope", None) is not None else ""
    if before == after or kind != "learned":
        return f"{kind} {after[0]}x{after[1]}{rotary}"
    return (
        f"{kind} {before[0]}x{before[1]} resampled to {after[0]}x{after[1]} (bicubic, anti-aliased){rotary}"
    )
