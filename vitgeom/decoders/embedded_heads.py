"""The heads that come with the package: trained on rendered scenes, one for each embedded backbone."""

from __future__ import annotations

from pathlib import Path

from vitgeom.backbones import EMBEDDED, Backbone
from vitgeom.decoders.head_decoder import head_decoder
from vitgeom.decoders.head_file import HeadRecord, read_head, read_record
from vitgeom.decoders.tapped import TappedDecoder
from vitgeom.errors import InvalidInput, UnknownName

HEADS_FOLDER = Path(__file__).parent / "weights"
SCENE_HEADS = ("scenes_depth", "scenes_points", "scenes_camera")


def head_path(name: str, backbone: str, *, folder: Path = HEADS_FOLDER) -> Path:
    """Return the path of a head for a backbone.

    Args:
        name: One of ``SCENE_HEADS``.
        backbone: Name of an embedded backbone.
        folder: Where heads are.
    """
    return folder / f"{name}.{backbone}.safetensors"


def has_scene_heads(backbone: Backbone) -> bool:
    """Tell whether heads for this backbone come with the package: an embedded one, with its own weights.

    Args:
        backbone: A loaded backbone.
    """
    file = head_path(SCENE_HEADS[0], backbone.spec.architecture)
    return file.is_file() and read_record(file).weights_digest == backbone.spec.weights_digest


def load_scene_head(name: str, backbone: Backbone, *, layer: int) -> TappedDecoder:
    """Return a decoder of the built-in scenes.

    Args:
        name: One of ``SCENE_HEADS``.
        backbone: An embedded one with its own weights.
        layer: Blocks that have run before the features, 0..L.

    Raises:
        UnknownName: No such head.
        InvalidInput: Another backbone, or a layer out of range.
    """
    if name not in SCENE_HEADS:
        raise UnknownName("head of the built-in scenes", name, SCENE_HEADS)
    file = head_path(name, backbone.spec.architecture)
    if not file.is_file():
        raise InvalidInput(
            f"decoder {name!r} has heads for {', '.join(EMBEDDED)} alone, not for {backbone.spec.name!r} ({backbone.spec.architecture}). "
            "Use one of these, or a head of your own: head_decoder(backbone, head, layer=..., taps=..., name=...)."
        )
    return load_head(file, backbone, layer=layer)


def load_head(file: Path, backbone: Backbone, *, layer: int) -> TappedDecoder:
    """Return the decoder that a head file describes.

    Args:
        file: Written by ``write_head``.
        backbone: The one that the head was trained on.
        layer: Blocks that have run before the features, 0..L.

    Raises:
        InvalidInput: No head file, a head for another width or for other weights, or a layer out of range.
    """
    head, record = read_head(file)
    decoder = head_decoder(
        backbone, head, layer=layer, taps=record.taps, normed=record.normed, name=record.name
    )
    refuse_other_weights(record, backbone)
    return decoder


def refuse_other_weights(record: HeadRecord, backbone: Backbone) -> None:
    """Refuse a backbone with other weights than the head was trained on: what it says would mean nothing.

    Args:
        record: Of the head.
        backbone: Whose tokens it would read.

    Raises:
        InvalidInput: Another digest.
    """
    if record.weights_digest != backbone.spec.weights_digest:
        raise InvalidInput(
            f"head {record.name!r} was trained on {record.backbone!r} with weights {record.weights_digest[:12]}, but {backbone.spec.name!r} has "
            f"weights {backbone.spec.weights_digest[:12]}. Load the backbone it was trained on, or train a head for this one."
        )
