"""What every decoder refuses, in one set of words."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from vitgeom.decoders.trunk import Trunk
from vitgeom.errors import InvalidInput


def check_layer(layer: object, *, trunk: Trunk, name: str) -> None:
    """Refuse a layer that the model does not have.

    Args:
        layer: Blocks that have run, 0..L.
        trunk: The model.
        name: Of the decoder.

    Raises:
        InvalidInput: It is no whole number in 0..L.
    """
    if isinstance(layer, bool) or not isinstance(layer, int) or not 0 <= layer <= trunk.num_blocks:
        raise InvalidInput(
            f"layer={layer!r} of decoder {name!r} must be a whole number in 0..{trunk.num_blocks}: the blocks of {trunk.name!r} that have "
            "run before the features (0: none; 1 is the first)."
        )


def check_taps(taps: Sequence[int], *, layer: int, trunk: Trunk, name: str) -> None:
    """Refuse taps that are not there, do not increase, or all lie before the features.

    Args:
        taps: Layers that the read-out sees.
        layer: Of the features.
        trunk: The model.
        name: Of the decoder.

    Raises:
        InvalidInput: Which of these rules is broken.
    """
    check_layer(layer, trunk=trunk, name=name)
    if not taps:
        raise InvalidInput(f"taps of decoder {name!r} are empty. Name at least one layer that it reads.")
    for tap in taps:
        if isinstance(tap, bool) or not isinstance(tap, int) or not 0 <= tap <= trunk.num_blocks:
            raise InvalidInput(
                f"taps={list(taps)} of decoder {name!r} name layer {tap!r}, but {trunk.name!r} has layers 0..{trunk.num_blocks}."
            )
    if list(taps) != sorted(set(taps)):
        raise InvalidInput(
            f"taps={list(taps)} of decoder {name!r} must increase strictly: name each layer once, first to last."
        )
    if taps[-1] < layer:
        raise InvalidInput(
            f"layer={layer} lies after the last tap of decoder {name!r} (taps={list(taps)}): its output would not depend on the features. "
            f"Choose a layer in 0..{taps[-1]}."
        )


def check_features(features: object, *, layer: int, trunk: Trunk, name: str) -> None:
    """Refuse what are not the tokens of one image of this model. Values are not looked at: inside a transformation there are none.

    Args:
        features: What the decoder was called with.
        layer: Of the features.
        trunk: The model.
        name: Of the decoder.

    Raises:
        InvalidInput: Another shape, dtype or device.
    """
    count, width = trunk.tokens_shape
    wanted = f"[{count}, {width}], the tokens of one image at layer {layer} of {trunk.name!r}"
    if not isinstance(features, Tensor):
        raise InvalidInput(
            f"features of decoder {name!r} must be a tensor {wanted}, got {type(features).__name__}."
        )
    if tuple(features.shape) != (count, width):
        batch = " Give one image at a time: features[0]." if features.ndim == 3 else ""
        raise InvalidInput(
            f"features of decoder {name!r} must be {wanted}, got {list(features.shape)}.{batch}"
        )
    if features.dtype != trunk.dtype or features.device.type != trunk.device.type:
        raise InvalidInput(
            f"features of decoder {name!r} are {features.dtype} on {features.device}, the model is {trunk.dtype} on {trunk.device}. "
            f"Convert them with features.to({str(trunk.device)!r}, {trunk.dtype}), or load the model in their dtype."
        )


def check_finite(values: Tensor, *, what: str, way_out: str) -> None:
    """Refuse values that are not finite.

    Args:
        values: Any tensor outside of a transformation.
        what: What they are, as the subject of the message.
        way_out: One sentence.

    Raises:
        InvalidInput: The first such place is named.
    """
    finite = torch.isfinite(values)
    if not bool(finite.all()):
        place = [int(index) for index in (~finite).nonzero()[0]]
        raise InvalidInput(f"{what} are not finite at {place} (first of {int((~finite).sum())}). {way_out}")


def check_image(image: object, *, name: str) -> None:
    """Refuse what is not one preprocessed image.

    Args:
        image: What was given.
        name: Of the decoder.

    Raises:
        InvalidInput: No floating-point [3, height, width], or pixels that are not finite.
    """
    if not isinstance(image, Tensor) or not image.is_floating_point():
        found = image.dtype if isinstance(image, Tensor) else type(image).__name__
        raise InvalidInput(
            f"image of decoder {name!r} must be a floating-point tensor [3, height, width], got {found}. Give backbone.preprocess(picture)."
        )
    if image.ndim != 3:
        raise InvalidInput(
            f"image of decoder {name!r} must be [3, height, width], got {list(image.shape)}. Bind one image at a time."
        )
    check_finite(image, what=f"pixels of the image for decoder {name!r}", way_out="Repair the picture.")
