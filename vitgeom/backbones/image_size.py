"""Which image sizes a patch grid allows."""

from __future__ import annotations

from vitgeom.errors import InvalidInput

LARGEST_SIDE = 16_384
ImageSize = int | tuple[int, int] | None


def as_height_width(image_size: object) -> tuple[int, int]:
    """Return (height, width) of a size given as one side or as a pair.

    Args:
        image_size: Pixels of a square's side, or (height, width).

    Raises:
        InvalidInput: It is neither.
    """
    sides = tuple(image_size) if isinstance(image_size, tuple | list) else (image_size, image_size)
    if len(sides) != 2 or not all(isinstance(side, int) for side in sides):
        raise InvalidInput(f"image_size must be one number of pixels or (height, width), got {image_size!r}.")
    return sides[0], sides[1]


def legal_neighbours(side: int, patch: int) -> list[int]:
    """Return the nearest legal sides at or around ``side``: the multiples of ``patch`` just below and above.

    Args:
        side: Pixels asked for.
        patch: Pixels of one patch along that side.
    """
    below = side // patch * patch
    return sorted({max(below, patch), max(below + (0 if side == below else patch), patch)})


def check_image_size(image_size: tuple[int, int], *, patch_size: tuple[int, int], name: str) -> None:
    """Refuse a size that whole patches cannot tile or no memory can hold, before any forward pass.

    Args:
        image_size: (height, width) in pixels.
        patch_size: (height, width) in pixels of one patch.
        name: The backbone, for the message.

    Raises:
        InvalidInput: A side is no positive multiple of the patch side; the legal neighbours are named. Or it is above 16384.
    """
    if max(image_size) > LARGEST_SIDE:
        raise InvalidInput(
            f"image_size={image_size[0]}x{image_size[1]} for backbone {name!r} is more than {LARGEST_SIDE} pixels a side. "
            f"Give a smaller one, for example {LARGEST_SIDE // 64 // patch_size[0] * patch_size[0]}."
        )
    if all(side > 0 and side % patch == 0 for side, patch in zip(image_size, patch_size, strict=True)):
        return
    advice = " and ".join(
        f"{axis} {' or '.join(str(legal) for legal in legal_neighbours(side, patch))}"
        for axis, side, patch in zip(("height", "width"), image_size, patch_size, strict=True)
    )
    raise InvalidInput(
        f"image_size={image_size[0]}x{image_size[1]} does not fit backbone {name!r}: its patches are "
        f"{patch_size[0]}x{patch_size[1]} pixels and must tile the image exactly. Nearest legal sizes: {advice}."
    )
