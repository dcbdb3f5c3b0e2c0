"""Decoders by name: what flows and reports loop over."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from vitgeom.backbones import Backbone
from vitgeom.decoders.cls import cls_decoder
from vitgeom.decoders.embedded_heads import SCENE_HEADS, has_scene_heads, load_scene_head
from vitgeom.decoders.patch_mean import patch_mean_decoder
from vitgeom.decoders.pooled import pooled_decoder
from vitgeom.decoders.tapped import TappedDecoder
from vitgeom.decoders.tokens import tokens_decoder
from vitgeom.errors import UnknownName


@dataclass(frozen=True)
class DecoderEntry:
    """One decoder that needs nothing but a backbone and a layer.

    Attributes:
        output: Shape, meaning and unit of what it returns; D = token width, N = tokens.
        open: Backbone, ``layer=`` -> decoder.
    """

    output: str
    open: Callable[..., TappedDecoder]


def _scene_head(name: str) -> Callable[..., TappedDecoder]:
    return lambda backbone, *, layer: load_scene_head(name, backbone, layer=layer)


DECODERS: dict[str, DecoderEntry] = {
    "cls": DecoderEntry("class token [D] after the final norm", cls_decoder),
    "patch_mean": DecoderEntry("mean [D] over the patch tokens after the final norm", patch_mean_decoder),
    "pooled": DecoderEntry("the model's own summary [D'] before any classifier", pooled_decoder),
    "tokens": DecoderEntry("all tokens [N, D] after the final norm", tokens_decoder),
    "scenes_depth": DecoderEntry("z-depth [1, H, W], scene units", _scene_head("scenes_depth")),
    "scenes_points": DecoderEntry(
        "visible point [3, H, W] in camera coordinates, scene units", _scene_head("scenes_points")
    ),
    "scenes_camera": DecoderEntry(
        "camera pose [9]: translation (scene units), unit quaternion (scalar last), field of view (radians)",
        _scene_head("scenes_camera"),
    ),
}
"""Name -> decoder. Decoders that need more (probes, heads from files, Depth Anything, VGGT) have constructors of their own."""


def load_decoder(name: str, backbone: Backbone, *, layer: int) -> TappedDecoder:
    """Return a decoder by name.

    Args:
        name: A key of ``DECODERS``.
        backbone: Whose tokens it reads.
        layer: Blocks that have run before the features, 0..L.

    Raises:
        UnknownName: No such decoder.
        InvalidInput: Layer out of range, no class token where one is read, or no head for this backbone.
    """
    if name not in DECODERS:
        raise UnknownName(
            "decoder", name, DECODERS, hint="Probes and heads of your own: probe_decoder, head_decoder."
        )
    return DECODERS[name].open(backbone, layer=layer)


def decoders_for(backbone: Backbone) -> tuple[str, ...]:
    """Return the names of the decoders that a backbone can have, in the order of ``DECODERS``.

    Args:
        backbone: A loaded backbone.
    """
    return tuple(name for name in DECODERS if _opens(name, backbone))


def _opens(name: str, backbone: Backbone) -> bool:
    if name in SCENE_HEADS:
        return has_scene_heads(backbone)
    return name != "cls" or bool(backbone.spec.layout.num_cls)
